// Which part of a core does a process take that waits in the library, or sleeps outside of it?
//
// Counted, of the last rank, in cores: user and system time of the whole process, the library's threads included. The
// other ranks sleep meanwhile. The time measured begins 0.3 s after the wait, and ends before it.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "armci.h"
#include "bench/common/clock.h"
#include "bench/session/session.h"
#include "message.h"

namespace armci::bench {
namespace {

constexpr double kBefore = 0.3;
constexpr double kShortest = 1;
constexpr double kLongest = 3;
constexpr double kMargin = 0.2;

void SleepSeconds(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec length{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

double ProcessSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Of the last rank, on all ranks. The last rank calls `wait`; the others let it go on with `release`.
double ShareOfWait(const Session& session, double seconds, const std::function<void()>& wait,
                   const std::function<void()>& release) {
  double share = 0;
  const int waiting = session.size() - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (session.rank() == waiting) {
    std::thread observer([&] {
      SleepSeconds(kBefore);
      const double before = ProcessSeconds();
      const double start = NowSeconds();
      SleepSeconds(seconds);
      share = (ProcessSeconds() - before) / (NowSeconds() - start);
    });
    wait();
    observer.join();
  } else {
    SleepSeconds(kBefore + seconds + kMargin);
    release();
  }
  MPI_Bcast(&share, 1, MPI_DOUBLE, waiting, MPI_COMM_WORLD);
  return share;
}

void Run(Session* session) {
  constexpr double kCases = 5;
  const double seconds = std::clamp(session->options().seconds / kCases - kBefore - kMargin, kShortest, kLongest);
  const int waiting = session->size() - 1;
  const bool root = session->root();
  const auto label = [](const char* name) { return CaseLabel{name, "cores", "idle_wait"}; };
  const auto count = [&](const char* name, const std::function<void()>& wait, const std::function<void()>& release) {
    if (!session->Wants(label(name))) return;
    session->Count(label(name), ShareOfWait(*session, seconds, wait, release));
  };
  count(
      "sleeps outside the library", [&] { SleepSeconds(kBefore + seconds + kMargin); }, [] {});
  count("waits in ARMCI_Barrier", ARMCI_Barrier, ARMCI_Barrier);
  count("waits in armci_msg_barrier", armci_msg_barrier, armci_msg_barrier);
  count(
      "waits for a notification", [] { armci_notify_wait(0, nullptr); },
      [=] {
        if (root) armci_notify(waiting);
      });
  if (root && session->Wants(label("waits for a mutex"))) ARMCI_Lock(0, 0);
  count(
      "waits for a mutex",
      [] {
        ARMCI_Lock(0, 0);
        ARMCI_Unlock(0, 0);
      },
      [=] {
        if (root) ARMCI_Unlock(0, 0);
      });
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"idle", "what a wait takes of a core", 2, /*between_nodes=*/true});
  Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  Run(&session);
  Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  return session.Finish();
}
