#include "conformance/history/shrink.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace conformance::history {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const TryProgram& attempt) : smallest_(std::move(program)), attempt_(attempt) {}

  Program Run() {
    // A simpler step may make more of the rest superfluous.
    do {
      changed_ = false;
      LeaveOutUnits();
      for (std::size_t at = 0; at < smallest_.steps.size() && !stopped_; ++at) Simplify(at);
    } while (changed_ && !stopped_);
    return std::move(smallest_);
  }

 private:
  bool Keep(Program candidate) {
    if (stopped_) return false;
    const Trial trial = attempt_(candidate);
    stopped_ = trial == Trial::kStop;
    if (trial != Trial::kFails) return false;
    smallest_ = std::move(candidate);
    changed_ = true;
    return true;
  }

  std::vector<int> Units() const {
    std::set<int> units;
    for (const Step& step : smallest_.steps) units.insert(step.unit);
    return {units.begin(), units.end()};
  }

  // In ever smaller pieces, down to single units, until none can be spared.
  void LeaveOutUnits() {
    std::vector<int> units = Units();
    for (std::size_t piece = std::max<std::size_t>(units.size() / 2, 1); !stopped_ && !units.empty();) {
      bool removed = false;
      for (std::size_t from = 0; from < units.size() && !stopped_;) {
        const auto first = units.begin() + static_cast<std::ptrdiff_t>(from);
        const auto last = units.begin() + static_cast<std::ptrdiff_t>(std::min(from + piece, units.size()));
        if (Keep(Without({first, last}))) {
          units.erase(first, last);
          removed = true;
        } else {
          from += piece;
        }
      }
      if (piece == 1 && !removed) return;
      piece = std::max<std::size_t>(piece / 2, 1);
    }
  }

  Program Without(const std::set<int>& units) const {
    Program candidate = smallest_;
    std::erase_if(candidate.steps, [&](const Step& step) { return units.count(step.unit) > 0; });
    return candidate;
  }

  // Tries the program with a different step in this place.
  bool Replace(std::size_t at, const Step& step) {
    if (step == smallest_.steps[at]) return false;
    Program candidate = smallest_;
    candidate.steps[at] = step;
    return Keep(std::move(candidate));
  }

  void Simplify(std::size_t at) {
    if (!Accesses(smallest_.steps[at].kind)) return;
    NarrowToOneCell(at);
    Step step = smallest_.steps[at];
    step.mode = Mode::kBlocking;
    step.handle = 0;
    Replace(at, step);
    step = smallest_.steps[at];
    if (step.cells.size() == 1) step.shape = Shape::kContiguous;
    step.scale = 1;
    Replace(at, step);
  }

  void NarrowToOneCell(std::size_t at) {
    const Step wide = smallest_.steps[at];
    if (wide.cells.size() == 1) return;
    for (std::size_t i = 0; i < wide.cells.size(); ++i) {
      Step narrow = wide;
      narrow.shape = Shape::kContiguous;
      narrow.row_cells = 1;
      narrow.cells = {wide.cells[i]};
      if (!wide.values.empty()) narrow.values = {wide.values[i]};
      if (Replace(at, narrow)) return;
    }
  }

  Program smallest_;
  const TryProgram& attempt_;
  bool stopped_ = false;
  bool changed_ = false;
};

}  // namespace

Program Shrink(Program program, const TryProgram& attempt) { return Shrinker(std::move(program), attempt).Run(); }

}  // namespace conformance::history
