// Whether read-modify-writes on one location are linearizable (RMW-2): whether there is one order of them all that
// explains every value seen and puts no call before one that had ended when it began.
//
// The search is Wing and Gong's with Lowe's memory of states already tried. The calls of one rank do not overlap, so
// the set of calls taken so far is one count for each rank: a state is these counts and the value of the location.
#ifndef CONFORMANCE_HISTORY_LINEARIZABILITY_H_
#define CONFORMANCE_HISTORY_LINEARIZABILITY_H_

#include <optional>
#include <string>
#include <vector>

#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

struct RmwCall {
  int rank;
  bool swap;     // otherwise fetch-and-add
  long operand;  // swapped in, or added
  long saw;      // the value before
  Interval time;
  int step = 0;  // for messages
};

struct Linearization {
  bool found = false;
  // Indices into the calls: the order that explains them, or the longest beginning of one.
  std::vector<std::size_t> order;
  long value = 0;  // after these
};

// The calls of each rank in the order in which it made them. Integers of 4 or 8 bytes wrap around.
Linearization Linearize(long initial, std::size_t bytes, const std::vector<RmwCall>& calls);

struct LinearizabilityResult {
  std::optional<Violation> violation;
  long calls = 0;
};
// All counters of a program.
LinearizabilityResult CheckLinearizability(const Program& program, const History& history);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_LINEARIZABILITY_H_
