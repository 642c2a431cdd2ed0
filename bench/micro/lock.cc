// What does an uncontended lock cost, against a pair of raw exchanges?
//
// Cases: lock + unlock of a mutex of rank 1, which sleeps, and of a mutex of rank 0 itself. The baseline takes and
// releases a word in the same kind of memory with one atomic exchange each; the system's process-shared mutex is
// given as context.
#include <pthread.h>

#include "armci.h"
#include "bench/baseline/atomics.h"
#include "bench/baseline/shared_mutex.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

Case LockUnlock(const char* name, int host, char* memory) {
  const auto actions = [=]() -> std::vector<Action> {
    auto* word = reinterpret_cast<int*>(memory);
    auto* mutex = reinterpret_cast<pthread_mutex_t*>(memory + 64);
    return {Loop("ARMCI_Lock+Unlock", Role::kSubject,
                 [=] {
                   ARMCI_Lock(0, host);
                   ARMCI_Unlock(0, host);
                 }),
            Loop("exchange pair", Role::kBaseline,
                 [=] {
                   ExchangeCall(word, 1);
                   ExchangeCall(word, 0);
                 }),
            Loop("pthread", Role::kContext, [=] {
              pthread_mutex_lock(mutex);
              pthread_mutex_unlock(mutex);
            })};
  };
  return {{name, "-", "lock_unlock"}, Crew::kAlone, actions};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"lock", "uncontended lock and unlock against raw exchanges", 2});
  {
    Region region(session, 4096);
    InitSharedMutex(region.on(session.rank()) + 64);
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    session.Run({LockUnlock("lock + unlock, rank 1's mutex", 1, region.on(1)),
                 LockUnlock("lock + unlock, own mutex", 0, region.on(0))});
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
