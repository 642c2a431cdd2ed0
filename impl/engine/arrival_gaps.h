// Tells whether requests arrive so densely that a spin finds the next one.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <utility>

namespace armci::engine {

class ArrivalGaps {
 public:
  static constexpr std::int64_t kShortUs = 60;  // a round trip or two
  static constexpr int kShortGapsMin = 3;       // so many short ones in a row

  using Clock = std::int64_t (*)();  // in microseconds
  explicit ArrivalGaps(Clock clock) : clock_(clock) {}

  // After a pass with work.
  void found_work() {
    const std::int64_t now_us = clock_();
    if (std::exchange(idle_, false)) short_gaps_ = now_us - found_at_us_ <= kShortUs ? short_gaps_ + 1 : 0;
    found_at_us_ = now_us;
  }
  // After a pass without.
  void found_none() { idle_ = true; }

  bool are_short() const { return short_gaps_ >= kShortGapsMin; }

 private:
  const Clock clock_;
  std::int64_t found_at_us_ = 0;
  int short_gaps_ = 0;  // the last ones, in a row
  bool idle_ = false;   // a pass found nothing since the last arrival
};

}  // namespace armci::engine
