// The record of a run of a program: the values that every read returned, and when each step began and ended.
#ifndef CONFORMANCE_HISTORY_RECORD_H_
#define CONFORMANCE_HISTORY_RECORD_H_

#include <vector>

#include "conformance/history/program.h"

namespace conformance::history {

// Seconds, taken before the call and after its local completion (for a non-blocking one: after its wait), by the rank
// that made it, on a clock that all ranks share.
struct Interval {
  double start = 0;
  double end = 0;
};

// Both by step. Reads have a value for each of their cells, other steps none.
struct History {
  std::vector<std::vector<long>> seen;
  std::vector<Interval> times;

  History() = default;
  explicit History(const Program& program) : seen(program.steps.size()), times(program.steps.size()) {
    for (std::size_t at = 0; at < seen.size(); ++at) {
      if (Reads(program.steps[at].kind)) seen[at].resize(program.steps[at].cells.size());
    }
  }
};

// The first thing wrong with a history.
struct Violation {
  const char* clause = "";
  std::string text;
};

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_RECORD_H_
