// What is lost when four processes want one mutex all the time, on however few cores there are?
//
// Cases: every process locks, works, adds one to a counter without an atomic, unlocks, again and again; with 10 us of
// work (a task queue), 1 us, and 0.1 us (a counter). The figure is the time per critical section over all processes;
// the baseline is one process running as many sections one after the other without any lock: the ideal serial time.
// The system's process-shared mutex, which is not fair, is given as context.
#include <pthread.h>

#include "armci.h"
#include "bench/baseline/shared_mutex.h"
#include "bench/baseline/work.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kHost = 0;
constexpr double kSample = 5e-3;  // per process: together long enough for many turns of the scheduler

struct Shared {
  volatile long* counter;
  pthread_mutex_t* mutex;
};

struct Section {
  const char* text;
  double seconds;
  const char* target_key;
};

constexpr Section kSections[] = {
    {"10 us", 10e-6, "lock_contended"}, {"1 us", 1e-6, "lock_contended"}, {"0.1 us", 0.1e-6, "lock_contended"}};

void Critical(Shared shared, long steps) {
  const long before = *shared.counter;
  Work(steps);
  *shared.counter = before + 1;
}

// Every process counts what it did under the ARMCI lock, so that the sum can be held against the shared counter.
Case Contended(const Session& session, Shared shared, const Section& section, long steps) {
  const int all = session.size();
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Each("ARMCI_Lock", Role::kSubject, all,
                         [=] {
                           ARMCI_Lock(0, kHost);
                           Critical(shared, steps);
                           ARMCI_Unlock(0, kHost);
                         }),
            session.Each("serial", Role::kBaseline, 1, [=] { Critical(shared, steps); }),
            session.Each("pthread", Role::kContext, all, [=] {
              pthread_mutex_lock(shared.mutex);
              Critical(shared, steps);
              pthread_mutex_unlock(shared.mutex);
            })};
  };
  const auto verify = [=, &session]() -> std::string {
    constexpr long kTurns = 1000;
    MPI_Barrier(MPI_COMM_WORLD);
    if (session.root()) *shared.counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < kTurns; ++i) {
      ARMCI_Lock(0, kHost);
      Critical(shared, steps);
      ARMCI_Unlock(0, kHost);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return *shared.counter == kTurns * all ? "" : "an update under the lock was lost";
  };
  return {{std::to_string(all) + " contending", section.text, section.target_key},
          Crew::kTogether,
          actions,
          verify,
          kSample};
}

long AgreedSteps(const Session& session, double seconds) {
  long steps = session.root() ? StepsFor(seconds) : 0;
  MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  return steps;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"lock_contended", "four processes contending for one mutex, against serial time", 4});
  {
    Region region(session, 4096);
    if (session.rank() == kHost) InitSharedMutex(region.on(kHost) + 64);
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    const Shared shared = {reinterpret_cast<volatile long*>(region.on(kHost)),
                           reinterpret_cast<pthread_mutex_t*>(region.on(kHost) + 64)};
    std::vector<Case> cases;
    for (const Section& section : kSections) {
      cases.push_back(Contended(session, shared, section, AgreedSteps(session, section.seconds)));
    }
    session.Run(cases);
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
