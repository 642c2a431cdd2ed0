// PollPace: how long the progress thread sleeps before it polls MPI again.
//
//   the program is inside MPI   twice as long each time, up to a millisecond: MPI makes progress there
//   work came unannounced       the interval of ARMCI_RMA_PROGRESS
//   nothing to do               3 ms; sockets that receive data wake the thread earlier (SocketWatch)
//
// Thread safety: belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace armci::rma {

class PollPace {
 public:
  explicit PollPace(int interval_us) : interval_us_(interval_us), sleep_us_(interval_us) {}

  std::int64_t sleep_us() const { return sleep_us_; }

  // The program is inside MPI. True: the thread polls nevertheless.
  bool inside() {
    const std::int64_t longest_us = std::max(interval_us_, kLongestInsideUs);
    const bool polls = sleep_us_ >= longest_us;
    sleep_us_ = std::min(2 * sleep_us_, longest_us);
    return polls;
  }

  // The thread has polled. `worked`: MPI had something to do. `announced`: a socket had said so.
  void polled(bool worked, bool announced) {
    if (worked && !announced) {
      window_ = std::min(2 * window_, kWindowMax);
      quick_polls_ = window_;
    } else if (quick_polls_ > 0 && --quick_polls_ == 0) {
      window_ = 1;
    }
    sleep_us_ = quick_polls_ > 0 ? interval_us_ : std::max(interval_us_, kLongestIdleUs);
  }

 private:
  static constexpr std::int64_t kLongestInsideUs = 1000;
  static constexpr std::int64_t kLongestIdleUs = 3000;
  // A tenth of a second. A poll may seem to have worked because its thread lost the core, so that a single one has two
  // quick polls follow.
  static constexpr int kWindowMax = 1000;

  const std::int64_t interval_us_;
  std::int64_t sleep_us_;
  int window_ = kWindowMax;  // quick polls after unannounced work, doubles with each
  int quick_polls_ = kWindowMax;
};

}  // namespace armci::rma
