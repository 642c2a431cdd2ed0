#include "conformance/harness/stacks.h"

#include <cxxabi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace conformance {
namespace {

constexpr int kFramesMax = 64;
constexpr int kAnswerMilliseconds = 500;

int StackSignal() { return SIGRTMAX - 3; }

// One request at a time: the asker zeroes `answered`, signals, and waits for it.
void* frames[kFramesMax];
int frame_count = 0;
std::atomic<int> answered{0};
std::atomic<pid_t> asked{0};

void Answer(int) {
  // A late answer to a request already given up must not overwrite the frames of the next thread.
  const pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
  if (asked.load() != self) return;
  frame_count = backtrace(frames, kFramesMax);
  answered.store(1, std::memory_order_release);
}

std::vector<pid_t> Threads() {
  std::vector<pid_t> threads;
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return threads;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') threads.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  }
  closedir(directory);
  return threads;
}

std::string TaskFile(pid_t thread, const char* what) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/" + what);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string FrameText(void* address) {
  char text[64];
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(text, sizeof text, "%p", address);
    return text;
  }
  // Offset in the module: what addr2line -e MODULE takes.
  std::snprintf(text, sizeof text, "+0x%zx",
                static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) -
                                         reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
  std::string frame = std::string(info.dli_fname) + text;
  if (info.dli_sname != nullptr) {
    int status = 0;
    char* demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    frame += std::string("  ") + (status == 0 ? demangled : info.dli_sname);
    std::free(demangled);
  }
  return frame;
}

// The public function that the thread is inside of, by the outermost frame that belongs to one; the library may call
// others. Empty if there is none.
std::string PublicCall(void* const* addresses, int count) {
  std::string call;
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(addresses[i], &info) == 0 || info.dli_sname == nullptr) continue;
    std::string name = info.dli_sname;
    // The name of the profiling layer may stand for the same address.
    if (name.rfind("PARMCI", 0) == 0 || name.rfind("parmci_", 0) == 0) name.erase(0, 1);
    for (const char* prefix : {"ARMCI_", "ARMCIX_", "armci_"}) {
      if (name.rfind(prefix, 0) == 0) call = name;
    }
  }
  return call;
}

bool Ask(pid_t thread) {
  answered.store(0);
  asked.store(thread);
  if (syscall(SYS_tgkill, getpid(), thread, StackSignal()) != 0) return false;
  for (int waited = 0; waited < kAnswerMilliseconds; ++waited) {
    if (answered.load(std::memory_order_acquire) != 0) return true;
    const timespec millisecond{0, 1000000};
    nanosleep(&millisecond, nullptr);
  }
  return false;
}

}  // namespace

void InstallStackSignal() {
  // The first backtrace() loads libgcc, which must not happen inside a handler.
  void* warm[2];
  backtrace(warm, 2);
  struct sigaction action {};
  action.sa_handler = Answer;
  action.sa_flags = SA_RESTART;
  sigaction(StackSignal(), &action, nullptr);
}

void PrintAllStacks(int rank) {
  const pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
  for (pid_t thread : Threads()) {
    if (thread == self) continue;
    std::string text =
        "rank " + std::to_string(rank) + " thread " + std::to_string(thread) + " (" + TaskFile(thread, "comm") + ")";
    const bool has_frames = Ask(thread);
    asked.store(0);
    if (!has_frames) {
      text += " does not answer, waits in " + TaskFile(thread, "wchan") + ", system call " +
              TaskFile(thread, "syscall") + "\n";
    } else {
      // Frames 0 and 1 are the handler and the kernel's signal frame.
      const std::string call = PublicCall(frames + 2, frame_count - 2);
      text += (call.empty() ? "" : ", inside " + call) + "\n";
      for (int i = 2; i < frame_count; ++i) {
        text += "  rank " + std::to_string(rank) + "  #" + std::to_string(i - 2) + " " + FrameText(frames[i]) + "\n";
      }
    }
    // One write per thread keeps the ranks' stacks apart on a shared stderr.
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  }
}

void PrintOwnStack() {
  void* own[kFramesMax];
  backtrace_symbols_fd(own, backtrace(own, kFramesMax), STDERR_FILENO);
}

}  // namespace conformance
