// The passes over the queues of a server: by its thread, and by threads of its process that wait in the library. A
// request that ends such a wait then needs no switch to the server thread, which may have the same core.
//
//   waiting thread   | pass pass pass: a request |                            | computes
//   server thread    | rests    | woken, sleeps 100 us, pass, sleeps 100 us ...                | serves as usual
//                               '--- a waiting thread has found work lately: is_helped() ------'
//
// One thread at a time makes a pass. A thread that finds another one there returns at once.
//
// Thread safety: try_pass() and pass_while_waiting() by any thread, the others by the server thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "impl/node/wait.h"

namespace armci::engine {

class Passes {
 public:
  // How long the server thread sleeps between two passes while it is helped: it stays away from the core of a thread
  // that serves as fast, and still serves this soon when the wait of that thread is over.
  static constexpr std::int64_t kHelpedSleepUs = 100;

  // Returns pass(), whether it found work; false if another thread makes a pass.
  template <class Pass>
  bool try_pass(Pass pass) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && pass();
  }

  // The same for a thread that waits. If it found work and the server thread rests, calls wake(): that thread serves
  // when the wait is over, and has to end what this pass left undone.
  template <class Pass, class Wake>
  void pass_while_waiting(Pass pass, Wake wake) {
    if (!try_pass(pass)) return;
    found_.fetch_add(1, std::memory_order_relaxed);
    if (resting_.exchange(false)) wake();
  }

  // Keeps other threads from passes, to prepare a rest.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  // The server thread is about to sleep until it is woken, or for longer than kHelpedSleepUs; or has slept.
  void set_resting(bool resting) { resting_.store(resting); }

  // The server thread's own pass found work.
  void work_found() { helped_until_us_ = 0; }
  // Whether, while the server thread itself finds none, a waiting thread has found work lately.
  bool is_helped() {
    const std::uint32_t found = found_.load(std::memory_order_relaxed);
    if (std::exchange(seen_, found) != found) helped_until_us_ = node::now_us() + kHelpedUs;
    return helped_until_us_ != 0 && node::now_us() < helped_until_us_;
  }

 private:
  static constexpr std::int64_t kHelpedUs = 2000;  // since the last work that a waiting thread found

  std::mutex mutex_;
  std::atomic<std::uint32_t> found_{0};  // passes of waiting threads that found work
  std::atomic<bool> resting_{false};
  std::uint32_t seen_ = 0;  // of those, by the server thread
  std::int64_t helped_until_us_ = 0;
};

}  // namespace armci::engine
