// All that is checked of a history.
#ifndef CONFORMANCE_HISTORY_CHECK_H_
#define CONFORMANCE_HISTORY_CHECK_H_

#include <optional>

#include "conformance/history/location_consistency.h"
#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

struct Findings {
  std::optional<Violation> violation;
  long reads = 0;  // judged by location consistency
  long calls = 0;  // judged by linearizability
  int undefined_locations = 0;
  // Accesses that began while another rank was at the same location: without any, nothing has raced.
  long overlaps = 0;
};

// Mutual exclusion, location consistency, linearizability, in this order.
Findings CheckHistory(const Program& program, const History& history);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_CHECK_H_
