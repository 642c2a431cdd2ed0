#include "impl/base/backtrace.h"

#include <cxxabi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

#include "impl/base/report_line.h"
#include "impl/base/status.h"

namespace armci {
namespace {

constexpr int kFramesMax = 64;
constexpr int kReplyMilliseconds = 1000;
constexpr unsigned kAbortSeconds = 5;
constexpr int kReadMilliseconds = 500;

// The stack of an interrupted thread, for the thread that requested it. One at a time: print_all_stacks() holds a
// mutex.
struct StackReply {
  std::atomic<int> awaited_tid{0};
  std::atomic<int> frames{-1};  // -1: no reply yet
  void* addresses[kFramesMax];
};
StackReply stack_reply;

// Memory ordering: the release of `frames` publishes `addresses` to the requesting thread, which acquires it.
void reply_with_stack(int) {
  const int saved_errno = errno;
  int requested = own_tid();
  // A late reply to an earlier request must not overwrite the reply to the present one.
  if (stack_reply.awaited_tid.compare_exchange_strong(requested, 0)) {
    stack_reply.frames.store(backtrace(stack_reply.addresses, kFramesMax), std::memory_order_release);
  }
  errno = saved_errno;
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

std::uintptr_t distance(const void* address, const void* from) {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(from);
}

// In stacks that a signal handler takes: its frames, of which the last is the kernel's. The next one is where the
// thread was.
constexpr int kHandlerFrames = 2;

// All other frames have the addresses that calls return to: the call itself is before, maybe on another source line.
const char* call_before(const void* return_address) { return static_cast<const char*>(return_address) - 1; }

std::string frame_line(int number, const void* address) {
  char head[32];
  std::snprintf(head, sizeof head, "  #%-2d ", number);
  char tail[64];
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(tail, sizeof tail, "%p\n", address);
    return std::string(head) + tail;
  }
  std::string line = head;
  if (info.dli_sname != nullptr) {
    std::snprintf(tail, sizeof tail, "+0x%zx", distance(address, info.dli_saddr));
    line += demangled(info.dli_sname) + tail + " ";
  }
  std::snprintf(tail, sizeof tail, "+0x%zx)\n", distance(address, info.dli_fbase));
  return line + "(" + info.dli_fname + tail;
}

void append_place(ReportLine* line, const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    line->hex(reinterpret_cast<std::uintptr_t>(address));
    return;
  }
  if (info.dli_sname != nullptr) (*line << info.dli_sname << "+").hex(distance(address, info.dli_saddr)) << " ";
  (*line << "(" << info.dli_fname << "+").hex(distance(address, info.dli_fbase)) << ")";
}

std::string stack_text(void* const* addresses, int frames, int skipped) {
  std::string text;
  for (int frame = skipped; frame < frames; ++frame) {
    const bool interrupted = skipped == kHandlerFrames && frame == skipped;
    text += frame_line(frame - skipped, interrupted ? addresses[frame] : call_before(addresses[frame]));
  }
  return text;
}

void write_text(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;  // nowhere left to report it
    done += static_cast<size_t>(wrote);
  }
}

std::vector<int> thread_ids() {
  std::vector<int> ids;
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return ids;
  while (const dirent* entry = readdir(directory)) {
    if (const int id = std::atoi(entry->d_name); id > 0) ids.push_back(id);
  }
  closedir(directory);
  return ids;
}

std::string thread_name(int tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  char name[32] = "";
  if (FILE* file = std::fopen(path, "r")) {
    if (std::fgets(name, sizeof name, file) != nullptr) name[std::strcspn(name, "\n")] = '\0';
    std::fclose(file);
  }
  return name;
}

// Stores another thread's stack in `stack_reply` and returns its frames; -1 when no reply comes in time.
int request_stack(int tid, int signal_number) {
  stack_reply.frames.store(-1, std::memory_order_relaxed);
  stack_reply.awaited_tid.store(tid);
  if (syscall(SYS_tgkill, getpid(), tid, signal_number) == 0) {
    const timespec pause{0, 1000000};
    for (int waited = 0; waited < kReplyMilliseconds; ++waited) {
      if (stack_reply.frames.load(std::memory_order_acquire) >= 0) break;
      nanosleep(&pause, nullptr);
    }
  }
  int expected = tid;
  // The withdrawal fails when the handler has begun. Its reply is then certain to come.
  if (stack_reply.awaited_tid.compare_exchange_strong(expected, 0)) return -1;
  while (stack_reply.frames.load(std::memory_order_acquire) < 0) sched_yield();
  return stack_reply.frames.load(std::memory_order_relaxed);
}

bool mpi_is_active() {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

std::atomic<bool> freezes{false};
std::atomic<bool> ends_alone{false};

// No stop signal is used: launchers take a stopped process for an ended one.
[[noreturn]] void freeze() {
  char host[HOST_NAME_MAX + 1] = "this machine";
  gethostname(host, sizeof host);
  ReportLine line;
  line << "frozen (ARMCI_FREEZE_ON_ERROR) as process " << getpid() << " on " << std::string_view(host)
       << ": look with  gdb -p " << getpid();
  line.write_to(STDERR_FILENO);
  for (;;) pause();
}

// The launcher of MPICH kills the job at MPI_Abort, and discards what its pipes still hold. FIONREAD at the writing end
// counts the unread bytes.
void wait_until_read(std::initializer_list<int> pipes) {
  for (int ms = 0; ms < kReadMilliseconds; ++ms) {
    int unread = 0;
    for (int fd : pipes) {
      struct stat file {};
      int bytes = 0;
      if (fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode) && ioctl(fd, FIONREAD, &bytes) == 0) unread += bytes;
    }
    if (unread == 0) return;
    usleep(1000);  // no event tells that a reader has emptied a pipe
  }
}

}  // namespace

void prepare_backtraces() {
  void* address[1];
  backtrace(address, 1);
}

void report_stack(int fd) {
  constexpr int kOwnFrames = 1 + kHandlerFrames;
  void* addresses[kFramesMax];
  const int frames = backtrace(addresses, kFramesMax);
  for (int frame = kOwnFrames; frame < frames; ++frame) {
    ReportLine line;
    line << "  #" << frame - kOwnFrames << " ";
    append_place(&line, frame == kOwnFrames ? addresses[frame] : call_before(addresses[frame]));
    line.write_to(fd);
  }
}

// MPI libraries and tools take the first real-time signals.
int stack_signal() { return SIGRTMAX - 3; }

void print_all_stacks(int fd) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  prepare_backtraces();
  const int signal_number = stack_signal();
  struct sigaction mine {};
  struct sigaction before {};
  mine.sa_handler = reply_with_stack;
  mine.sa_flags = SA_RESTART;
  sigemptyset(&mine.sa_mask);
  if (sigaction(signal_number, &mine, &before) != 0) return;
  bool all_replied = true;
  for (const int tid : thread_ids()) {
    char heading[96];
    std::snprintf(heading, sizeof heading, "armci: rank %d: stack of thread %d (%s)%s\n", message_rank(), tid,
                  thread_name(tid).c_str(), tid == own_tid() ? ", the one that prints" : "");
    std::string text = heading;
    if (tid == own_tid()) {
      text += stack_text(stack_reply.addresses, backtrace(stack_reply.addresses, kFramesMax), 1);
    } else {
      const int frames = request_stack(tid, signal_number);
      all_replied &= frames >= 0;
      text += frames < 0 ? "  no reply: the thread has ended or blocks signals\n"
                         : stack_text(stack_reply.addresses, frames, kHandlerFrames);
    }
    write_text(fd, text);
  }
  // The handler stays for a signal that is still pending: the default action would end the process.
  if (all_replied) sigaction(signal_number, &before, nullptr);
}

void print_fatal(const char* message, int code) {
  char rank[16] = "-";
  if (message_rank() >= 0) std::snprintf(rank, sizeof rank, "%d", message_rank());
  write_text(STDERR_FILENO, std::string("armci: rank ") + rank + ": fatal: " +
                                (message != nullptr ? message : "(null)") + " (code " + std::to_string(code) + ")\n");
  void* addresses[kFramesMax];
  write_text(STDERR_FILENO, stack_text(addresses, backtrace(addresses, kFramesMax), 1));
}

void freeze_on_error(bool wanted) { freezes.store(wanted); }

void end_alone() { ends_alone = true; }

void die(int code) {
  // Only the low eight bits reach a parent process.
  const int status = (code & 0xff) == 0 ? 1 : code;
  static std::atomic<bool> dying{false};
  if (dying.exchange(true)) {
    for (;;) pause();
  }
  if (freezes.load()) freeze();
  // Flushing and MPI_Abort may both wait for what a hanging thread holds.
  signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(kAbortSeconds);
  std::fflush(nullptr);
  if (!ends_alone && mpi_is_active()) {
    wait_until_read({STDOUT_FILENO, STDERR_FILENO});
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  _exit(status);
}

void die_of_failure(const char* where) {
  const Cause cause = last_cause();
  print_failure(where, cause);
  die(static_cast<int>(cause.code));
}

}  // namespace armci
