// Which threads of this process wait for a mutex, and for which: for reports of what hangs.
//
// Thread safety: a MutexWait by any thread; visit_mutex_waits() by any thread and by signal handlers.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::common {

struct MutexWaitRecord {
  std::atomic<int> tid{0};  // of the thread that waits; 0: nobody
  std::atomic<int> mutex{0};
  std::atomic<int> host{0};  // absolute id
  std::atomic<const std::atomic<std::int32_t>*> holder{
      nullptr};  // its absolute id + 1; nullptr: cannot be seen from here
};

inline constexpr int kMutexWaitsMax = 64;
extern MutexWaitRecord mutex_waits[kMutexWaitsMax];

// A thread waits for a mutex, for the length of a scope. Of more than kMutexWaitsMax at a time the later ones are not
// noted.
class MutexWait {
 public:
  MutexWait(int mutex, int host, const std::atomic<std::int32_t>* holder);
  ~MutexWait();
  MutexWait(const MutexWait&) = delete;
  MutexWait& operator=(const MutexWait&) = delete;

 private:
  MutexWaitRecord* record_ = nullptr;
};

// visit(tid, mutex, host, holder): the holder's absolute id, or -1.
template <class Visit>
void visit_mutex_waits(Visit visit) {
  for (const MutexWaitRecord& record : mutex_waits) {
    const int tid = record.tid.load(std::memory_order_acquire);
    if (tid <= 0) continue;
    const std::atomic<std::int32_t>* holder = record.holder.load(std::memory_order_relaxed);
    visit(tid, record.mutex.load(std::memory_order_relaxed), record.host.load(std::memory_order_relaxed),
          holder == nullptr ? -1 : holder->load(std::memory_order_relaxed) - 1);
  }
}

}  // namespace armci::common
