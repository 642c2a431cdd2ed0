// The per-test deadline of one rank.
//
// A thread of its own that makes no MPI and no ARMCI call, so that any MPI thread level will do. When the deadline of
// the armed test passes it prints the test, the rank, the rerun line, what the rank is inside of and what it has
// pending, and the stacks of all threads, waits long enough for the other ranks to do the same, and ends the process.
#ifndef CONFORMANCE_HARNESS_WATCHDOG_H_
#define CONFORMANCE_HARNESS_WATCHDOG_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace conformance {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitDeadline = 3;

class Watchdog {
 public:
  explicit Watchdog(int rank);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From now on `what` may take `seconds`; `rerun` is printed when it takes longer.
  void Arm(const std::string& what, double seconds, const std::string& rerun);
  void Disarm();

 private:
  void Run();
  [[noreturn]] void Expire();

  const int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false;
  bool stop_ = false;
  std::string what_;
  std::string rerun_;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  std::thread thread_;
};

// Makes SIGSEGV and its kind print test, rank, stack and rerun line before they end the process.
void InstallCrashReport(int rank);
// Sets the names for InstallCrashReport's handler; `what` and `rerun` are copied.
void SetCrashContext(const std::string& what, const std::string& rerun);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_WATCHDOG_H_
