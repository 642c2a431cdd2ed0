#include "conformance/history/check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/history/linearizability.h"

namespace conformance::history {
namespace {

long CountOverlaps(const Program& program, const History& history) {
  std::vector<std::vector<std::size_t>> steps(static_cast<std::size_t>(program.locations()));
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    for (int cell : step.cells) steps[static_cast<std::size_t>(program.Location(step.target, cell))].push_back(at);
  }
  long overlaps = 0;
  for (std::vector<std::size_t>& at_location : steps) {
    std::sort(at_location.begin(), at_location.end(),
              [&](std::size_t a, std::size_t b) { return history.times[a].start < history.times[b].start; });
    std::vector<double> busy_until(static_cast<std::size_t>(program.ranks), 0);
    for (std::size_t at : at_location) {
      const auto rank = static_cast<std::size_t>(program.steps[at].rank);
      const Interval& time = history.times[at];
      double& own = busy_until[rank];
      const double before = std::exchange(own, 0);
      overlaps += *std::max_element(busy_until.begin(), busy_until.end()) > time.start ? 1 : 0;
      own = std::max(before, time.end);
    }
  }
  return overlaps;
}

}  // namespace

Findings CheckHistory(const Program& program, const History& history) {
  Findings findings;
  findings.overlaps = CountOverlaps(program, history);
  const RecordedLocks locks = LocksOf(program, history);
  findings.violation = locks.violation;
  if (findings.violation) return findings;
  const ConsistencyResult consistency = CheckConsistency(program, history, locks.order);
  findings.reads = consistency.reads;
  findings.undefined_locations = consistency.undefined_locations;
  findings.violation = consistency.violation;
  if (findings.violation) return findings;
  const LinearizabilityResult linearizability = CheckLinearizability(program, history);
  findings.calls = linearizability.calls;
  findings.violation = linearizability.violation;
  return findings;
}

}  // namespace conformance::history
