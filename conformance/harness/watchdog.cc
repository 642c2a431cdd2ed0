#include "conformance/harness/watchdog.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "conformance/harness/capture.h"
#include "conformance/harness/pending.h"
#include "conformance/harness/recording.h"
#include "conformance/harness/stacks.h"

namespace conformance {
namespace {

// The first rank to leave takes the whole job along, so each waits until the others will have printed too: less long
// for a short deadline.
constexpr double kOthersSecondsMax = 3;
constexpr double kOthersShare = 0.2;
// Symbol lookup may block on a lock that a stuck thread holds; the alarm ends the process all the same.
constexpr unsigned kPrintSecondsMax = 20;

char crash_text[1024];
int crash_rank = 0;

void OnCrash(int signal_number) {
  ShowCaptured();
  char line[1200];
  const int length = std::snprintf(line, sizeof line, "conformance: rank %d: signal %d (%s) in %s\n", crash_rank,
                                   signal_number, strsignal(signal_number), crash_text);
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(length)) > 0) PrintOwnStack();
  // The handler was installed with SA_RESETHAND: raising again ends the process with the right status.
  raise(signal_number);
}

}  // namespace

void InstallCrashReport(int rank) {
  crash_rank = rank;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct sigaction action {};
  action.sa_handler = OnCrash;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
#else
  (void)OnCrash;  // the sanitizer's own report says more
#endif
}

void SetCrashContext(const std::string& what, const std::string& rerun) {
  std::snprintf(crash_text, sizeof crash_text, "%s; rerun: %s", what.c_str(), rerun.c_str());
}

Watchdog::Watchdog(int rank) : rank_(rank), thread_([this] { Run(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::Arm(const std::string& what, double seconds, const std::string& rerun) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    armed_ = true;
    what_ = what;
    rerun_ = rerun;
    seconds_ = seconds;
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  }
  changed_.notify_all();
}

void Watchdog::Disarm() {
  std::lock_guard<std::mutex> lock(mutex_);
  armed_ = false;
}

void Watchdog::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (!armed_) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, deadline_) == std::cv_status::timeout && armed_ &&
               std::chrono::steady_clock::now() >= deadline_) {
      Expire();
    }
  }
}

void Watchdog::Expire() {
  alarm(kPrintSecondsMax);
  ShowCaptured();
  // Not by way of stderr the stream, whose lock a stuck thread may hold; and first what needs no lock at all.
  dprintf(STDERR_FILENO, "conformance: rank %d: deadline of %.0f s passed in %s\nconformance: rerun: %s\n", rank_,
          seconds_, what_.c_str(), rerun_.c_str());
  PrintPending(STDERR_FILENO, rank_);
  RecordEvent("deadline", what_);
  PrintAllStacks(rank_);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kOthersSecondsMax, kOthersShare * seconds_)));
  _exit(kExitDeadline);
}

}  // namespace conformance
