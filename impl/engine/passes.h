// The passes over the queues of a server: by its thread, and by threads of its process that wait in the library. A
// request that ends such a wait then needs no switch to the server thread, which may have the same core.
//
//   waiting thread   | pass pass pass: a request | pass pass pass ...            | computes
//   server thread    | rests    | woken, sleeps 100 us, pass, sleeps 200 us, pass ... 100 us, pass | serves as usual
//                               '--- others_serve(): a thread waits, or has waited lately --------'
//
// While a waiting thread serves, each pass of the server thread takes the core from it, or a lock of the network. So
// the sleeps double while the server thread finds a thread inside the library, and halve while it finds none: a process
// that mostly computes serves soon. With events the server thread sleeps until one instead, once no thread is inside.
//
// The server thread looks for such a thread before its pass, since the pass may take the core from that thread for
// long.
//
// One thread at a time makes a pass. The server thread returns at once if it finds another one there. A waiting thread
// yields: the server thread may have lost the core to it in the middle of its pass.
//
// Thread safety: try_pass() and pass_while_waiting() by any thread, the others by the server thread.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "impl/node/wait.h"

namespace armci::engine {

class Passes {
 public:
  // Of the sleeps of the server thread while waiting threads serve.
  static constexpr std::int64_t kShortestSleepUs = 100;
  static constexpr std::int64_t kLongestSleepUs = 1000;
  // A thread counts as waiting for so long after its last pass: it may send a message in between, or have lost its
  // core.
  static constexpr std::int64_t kStillWaitsUs = 250;

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
    waited_at_us_.store(clock_(), std::memory_order_relaxed);
    bool found = false;
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
      found = pass();
    } else {
      sched_yield();
    }
    waited_at_us_.store(clock_(), std::memory_order_relaxed);
    if (!found) return;
    found_.fetch_add(1, std::memory_order_relaxed);
    if (resting_.exchange(false)) wake();
  }

  // Keeps other threads from passes, to prepare a rest.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  // Whether the server thread is in a sleep that a waiting thread has to end when it finds work. Those of
  // next_sleep_us() end soon by themselves.
  void set_resting(bool resting) { resting_.store(resting); }
  // A waiting thread has found work since others_serve(), perhaps before set_resting(true).
  bool has_missed_work() const { return found_.load() != seen_; }

  // Whether a thread waits, or has done so a moment ago.
  bool waits() const { return clock_() - waited_at_us_.load(std::memory_order_relaxed) < kStillWaitsUs; }

  // The server thread found work. `inside`: whether a thread was inside the library before that pass. Such a thread
  // would have found the work a moment later, so the server thread takes over only if there was none.
  void work_found(bool inside) {
    if (!inside) take_over();
  }

  // Whether waiting threads serve: one has waited in the last 2 ms, and the server thread has found no work since while
  // none was inside.
  bool others_serve() {
    const std::uint32_t found = found_.load(std::memory_order_relaxed);
    if (std::exchange(seen_, found) != found || waits()) served_until_us_ = clock_() + kServedUs;
    if (served_until_us_ != 0 && clock_() >= served_until_us_) take_over();
    return served_until_us_ != 0;
  }
  // The next sleep of the server thread while others_serve(). Each call doubles the sleep if a thread is inside, and
  // else halves it. If none is, and the client has something pending, the sleep is short.
  std::int64_t next_sleep_us(bool inside, bool pending) {
    sleep_us_ = std::clamp(inside ? sleep_us_ * 2 : sleep_us_ / 2, kShortestSleepUs, kLongestSleepUs);
    return pending && !inside ? kShortestSleepUs : sleep_us_;
  }

 private:
  static constexpr std::int64_t kServedUs = 2000;  // since a thread last waited
  static_assert(kStillWaitsUs < kServedUs && kLongestSleepUs < kServedUs);

  void take_over() { served_until_us_ = sleep_us_ = 0; }

  const Clock clock_;
  std::mutex mutex_;
  std::atomic<std::uint32_t> found_{0};  // passes of waiting threads that found work
  std::atomic<std::int64_t> waited_at_us_{0};
  std::atomic<bool> resting_{false};
  std::uint32_t seen_ = 0;  // of those that found work, by the server thread
  std::int64_t served_until_us_ = 0;
  std::int64_t sleep_us_ = 0;
};

}  // namespace armci::engine
