// The system's own mutex in memory that several processes map, for comparison.
#ifndef ARMCI_BENCH_BASELINE_SHARED_MUTEX_H_
#define ARMCI_BENCH_BASELINE_SHARED_MUTEX_H_

#include <pthread.h>

namespace armci::bench {

// Makes a process-shared mutex in `memory`, which is large enough and aligned for one. One process calls, before any
// other uses it.
inline pthread_mutex_t* InitSharedMutex(void* memory) {
  auto* mutex = static_cast<pthread_mutex_t*>(memory);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_SHARED_MUTEX_H_
