// EventCount: a thread of the library blocks on it, and threads that produce work wake that thread.
//
//   the blocking thread                          a thread of the program
//   seen = prepare_wait()                        issues an operation
//   polls for work; finds none                   notify(): one load while the other thread is awake
//   wait(seen, us): returns at once if notified since prepare_wait()
//
// Thread safety: prepare_wait(), cancel_wait() and wait() by the one thread, notify() by any.
#pragma once

#include <atomic>
#include <cstdint>

#include "impl/node/wait.h"

namespace armci::engine {

class EventCount {
 public:
  // To be called before the last poll for work: work that is issued from here on notifies the thread.
  //
  // Memory ordering: sequentially consistent, see notify().
  std::uint32_t prepare_wait() {
    const std::uint32_t seen = count_.load();
    if (!waiting_.load(std::memory_order_relaxed)) waiting_.store(true);
    return seen;
  }
  // For wait() without prepare_wait(): notify() does not wake the thread, since the thread polls again soon.
  std::uint32_t count() const { return count_.load(); }
  // The thread found work: notify() does nothing until the thread prepares again.
  void cancel_wait() {
    if (waiting_.load(std::memory_order_relaxed)) waiting_.store(false);
  }
  // Blocks for at most `us`, and not at all if notify() ran since prepare_wait() returned `seen`.
  void wait(std::uint32_t seen, std::int64_t us) { node::futex_wait(&count_, seen, us); }

  // Memory ordering: sequentially consistent, so that either notify() sees the thread waiting, or the thread sees the
  // work.
  void notify() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!waiting_.load(std::memory_order_relaxed)) return;
    count_.fetch_add(1);
    node::futex_wake(&count_, 1);
  }

 private:
  std::atomic<bool> waiting_{false};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace armci::engine
