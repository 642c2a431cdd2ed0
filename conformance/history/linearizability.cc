#include "conformance/history/linearizability.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <unordered_set>

#include "conformance/harness/random.h"

namespace conformance::history {
namespace {

// Counts of each rank, and the value.
using State = std::vector<long>;

struct HashState {
  std::size_t operator()(const State& state) const {
    std::size_t hash = 0;
    for (long part : state) hash = Rng(hash ^ static_cast<std::uint64_t>(part)).Next();
    return hash;
  }
};

long After(const RmwCall& call, long value, std::size_t bytes) {
  if (call.swap) return call.operand;
  const auto sum = static_cast<unsigned long>(value) + static_cast<unsigned long>(call.operand);
  return bytes == 4 ? static_cast<int>(static_cast<unsigned>(sum)) : static_cast<long>(sum);
}

class Search {
 public:
  Search(long initial, std::size_t bytes, const std::vector<RmwCall>& calls)
      : bytes_(bytes), calls_(calls), value_(initial) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto rank = static_cast<std::size_t>(calls[i].rank);
      if (by_rank_.size() <= rank) by_rank_.resize(rank + 1);
      by_rank_[rank].push_back(i);
    }
    taken_.assign(by_rank_.size(), 0);
  }

  Linearization Run() {
    Linearization best{false, {}, value_};
    std::size_t next_rank = 0;  // the first that has not been tried in this state
    while (true) {
      if (order_.size() == calls_.size()) return {true, order_, value_};
      const std::size_t rank = FirstPossible(next_rank);
      if (rank < by_rank_.size()) {
        Take(rank);
        next_rank = tried_.insert(Now()).second ? 0 : by_rank_.size();
        continue;
      }
      if (order_.size() > best.order.size()) best = {false, order_, value_};
      if (order_.empty()) return best;
      next_rank = Undo() + 1;
    }
  }

 private:
  // A rank at or behind `from` whose next call saw the present value and began before every other had to be over.
  std::size_t FirstPossible(std::size_t from) const {
    double must_end = std::numeric_limits<double>::infinity();
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      if (const RmwCall* call = Next(rank)) must_end = std::min(must_end, call->time.end);
    }
    for (std::size_t rank = from; rank < by_rank_.size(); ++rank) {
      const RmwCall* call = Next(rank);
      if (call != nullptr && call->saw == value_ && call->time.start <= must_end) return rank;
    }
    return by_rank_.size();
  }

  const RmwCall* Next(std::size_t rank) const {
    const auto count = static_cast<std::size_t>(taken_[rank]);
    return count < by_rank_[rank].size() ? &calls_[by_rank_[rank][count]] : nullptr;
  }

  void Take(std::size_t rank) {
    const RmwCall& call = *Next(rank);
    order_.push_back(by_rank_[rank][static_cast<std::size_t>(taken_[rank]++)]);
    value_ = After(call, value_, bytes_);
  }

  // Takes the last call back; returns its rank. The value before is what it saw.
  std::size_t Undo() {
    const RmwCall& call = calls_[order_.back()];
    order_.pop_back();
    value_ = call.saw;
    --taken_[static_cast<std::size_t>(call.rank)];
    return static_cast<std::size_t>(call.rank);
  }

  State Now() const {
    State state = taken_;
    state.push_back(value_);
    return state;
  }

  const std::size_t bytes_;
  const std::vector<RmwCall>& calls_;
  std::vector<std::vector<std::size_t>> by_rank_;
  std::vector<long> taken_;
  std::vector<std::size_t> order_;
  long value_;
  std::unordered_set<State, HashState> tried_;
};

std::string CallText(const Program& program, const RmwCall& call, double origin) {
  char when[80];
  std::snprintf(when, sizeof when, ", from %.3f to %.3f us", 1e6 * (call.time.start - origin),
                1e6 * (call.time.end - origin));
  return TextOf(program, static_cast<std::size_t>(call.step)) + ": saw " + std::to_string(call.saw) + when;
}

// The end of the longest order, and what each rank had to offer after it.
std::string Explain(const Program& program, const std::vector<RmwCall>& calls, const Linearization& longest) {
  std::string text = "no order explains the " + std::to_string(calls.size()) + " calls; the longest one has " +
                     std::to_string(longest.order.size()) + " and leaves the value " + std::to_string(longest.value);
  constexpr std::size_t kShown = 4;
  const double origin = longest.order.empty() ? calls[0].time.start : calls[longest.order.back()].time.start;
  const std::size_t from = longest.order.size() > kShown ? longest.order.size() - kShown : 0;
  for (std::size_t i = from; i < longest.order.size(); ++i)
    text += "\n  " + CallText(program, calls[longest.order[i]], origin);
  std::vector<bool> used(calls.size(), false);
  for (std::size_t index : longest.order) used[index] = true;
  std::map<int, std::size_t> next;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!used[i]) next.emplace(calls[i].rank, i);
  }
  for (const auto& [rank, index] : next) text += "\n  cannot be next: " + CallText(program, calls[index], origin);
  return text;
}

}  // namespace

Linearization Linearize(long initial, std::size_t bytes, const std::vector<RmwCall>& calls) {
  return Search(initial, bytes, calls).Run();
}

LinearizabilityResult CheckLinearizability(const Program& program, const History& history) {
  LinearizabilityResult result;
  std::map<int, std::vector<RmwCall>> by_location;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    if (!IsRmw(step.kind) || !IsCounter(program.cells[static_cast<std::size_t>(step.cells[0])].role)) continue;
    by_location[program.Location(step.target, step.cells[0])].push_back({step.rank, step.kind == Kind::kSwap,
                                                                         step.values[0], history.seen[at][0],
                                                                         history.times[at], static_cast<int>(at)});
  }
  for (const auto& [location, calls] : by_location) {
    result.calls += static_cast<long>(calls.size());
    const auto cell = static_cast<std::size_t>(location) % program.cells.size();
    const std::size_t bytes = program.cells[cell].role == Role::kCounterInt ? 4 : 8;
    const Linearization found = Linearize(InitialValue(program, location), bytes, calls);
    if (found.found) continue;
    result.violation = {"RMW-2", "cell " + std::to_string(cell) + " of rank " +
                                     std::to_string(location / static_cast<int>(program.cells.size())) + ": " +
                                     Explain(program, calls, found)};
    break;
  }
  return result;
}

}  // namespace conformance::history
