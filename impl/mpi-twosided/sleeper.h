// Sleeper: how a thread of the library waits for the network, and how those who give it work wake it.
//
//   the thread                                   a thread of the program
//   seen = prepare()                             begins something
//   looks for work; finds none                   wake(): a load, while the other is awake
//   sleep(seen, us): not if woken since prepare
//
// Thread safety: prepare(), found() and sleep() by the one thread, wake() by any.
#pragma once

#include <atomic>
#include <cstdint>

#include "impl/node/wait.h"

namespace armci::twosided {

class Sleeper {
 public:
  // Before the look for work after which the thread may sleep: what is begun from here on wakes it.
  //
  // Memory ordering: sequentially consistent, see wake().
  std::uint32_t prepare() {
    const std::uint32_t seen = wakes_.load();
    if (!asleep_.load(std::memory_order_relaxed)) asleep_.store(true);
    return seen;
  }
  // For sleep() without prepare(): the thread is not woken by what is begun, as it will look soon.
  std::uint32_t seen() const { return wakes_.load(); }
  // There was work: nobody need wake the thread until it prepares again.
  void found() {
    if (asleep_.load(std::memory_order_relaxed)) asleep_.store(false);
  }
  // At most so long, and not at all if woken since prepare() gave `seen`.
  void sleep(std::uint32_t seen, std::int64_t us) { node::futex_wait(&wakes_, seen, us); }

  // Memory ordering: sequentially consistent, so that either this sees the thread asleep or the thread what was begun.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!asleep_.load(std::memory_order_relaxed)) return;
    wakes_.fetch_add(1);
    node::futex_wake(&wakes_, 1);
  }

 private:
  std::atomic<bool> asleep_{false};
  std::atomic<std::uint32_t> wakes_{0};
};

}  // namespace armci::twosided
