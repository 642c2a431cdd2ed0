// The passes over the queues of a server: by its thread, and by threads of its process that wait in the library. A
// request that ends such a wait then needs no switch to the server thread, which may have the same core.
//
//   waiting thread   | pass pass pass: a request | pass pass pass ...            | computes
//   server thread    | rests    | woken, sleeps 100 us, pass, sleeps 200 us, pass ... 100 us, pass | serves as usual
//                               '--- helped: a waiting thread has found work lately --------------'
//
// Each pass of a server thread that is helped takes the core from the thread that serves. So its sleeps double while it
// finds a thread waiting, and halve while it finds none: a process that mostly computes serves soon.
//
// One thread at a time makes a pass. A thread that finds another one there returns at once.
//
// Thread safety: try_pass() and pass_while_waiting() by any thread, the others by the server thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "impl/node/wait.h"

namespace armci::engine {

class Passes {
 public:
  // Of the sleeps of a server thread that is helped.
  static constexpr std::int64_t kShortestSleepUs = 100;
  static constexpr std::int64_t kLongestSleepUs = 1000;

  using Clock = std::int64_t (*)();  // in microseconds
  explicit Passes(Clock clock = &node::now_us) : clock_(clock) {}

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
    const bool found = try_pass(pass);
    waited_at_us_.store(clock_(), std::memory_order_relaxed);
    if (!found) return;
    found_.fetch_add(1, std::memory_order_relaxed);
    if (resting_.exchange(false)) wake();
  }

  // Keeps other threads from passes, to prepare a rest.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  // The server thread is about to sleep until it is woken, or has slept.
  void set_resting(bool resting) { resting_.store(resting); }

  // The server thread's own pass found work.
  void work_found() { stop_sleeping(); }

  // How long the server thread sleeps next, as it is helped; 0: while it found no work itself, no waiting thread has
  // found any lately.
  std::int64_t helped_sleep_us() {
    const std::uint32_t found = found_.load(std::memory_order_relaxed);
    if (found == seen_ && helped_until_us_ == 0) return 0;
    const std::int64_t now = clock_();
    if (found != seen_) helped_until_us_ = now + kHelpedUs;
    seen_ = found;
    if (now >= helped_until_us_) {
      stop_sleeping();
      return 0;
    }
    const bool waits = now - waited_at_us_.load(std::memory_order_relaxed) < kBetweenPassesUs;
    sleep_us_ = std::clamp(waits ? sleep_us_ * 2 : sleep_us_ / 2, kShortestSleepUs, kLongestSleepUs);
    return sleep_us_;
  }

 private:
  static constexpr std::int64_t kHelpedUs = 2000;       // since the last work that a waiting thread found
  static constexpr std::int64_t kBetweenPassesUs = 50;  // of a thread that waits, or that sends a message in between

  void stop_sleeping() { helped_until_us_ = sleep_us_ = 0; }

  const Clock clock_;
  std::mutex mutex_;
  std::atomic<std::uint32_t> found_{0};  // passes of waiting threads that found work
  std::atomic<std::int64_t> waited_at_us_{0};
  std::atomic<bool> resting_{false};
  std::uint32_t seen_ = 0;  // of those that found work, by the server thread
  std::int64_t helped_until_us_ = 0;
  std::int64_t sleep_us_ = 0;
};

}  // namespace armci::engine
