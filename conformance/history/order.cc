#include "conformance/history/order.h"

#include <algorithm>
#include <limits>

namespace conformance::history {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

}  // namespace

RecordedLocks LocksOf(const Program& program, const History& history) {
  RecordedLocks recorded;
  std::map<int, int> unlock_of;  // by unit
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    if (step.kind == Kind::kLock) recorded.order[step.number].push_back(static_cast<int>(at));
    if (step.kind == Kind::kUnlock) unlock_of[step.unit] = static_cast<int>(at);
  }
  const auto time = [&](int step) { return history.times[static_cast<std::size_t>(step)]; };
  for (auto& [mutex, locks] : recorded.order) {
    std::sort(locks.begin(), locks.end(), [&](int a, int b) { return time(a).end < time(b).end; });
    for (std::size_t i = 1; i < locks.size(); ++i) {
      const auto before = static_cast<std::size_t>(locks[i - 1]);
      // Held from the end of the lock to the beginning of the unlock, at least.
      if (time(unlock_of[program.steps[before].unit]).start <= time(locks[i]).end) continue;
      recorded.violation = {"MUTEX-2",
                            TextOf(program, static_cast<std::size_t>(locks[i])) +
                                "\n  obtained the mutex before its holder gave it back; the holder got it in\n  " +
                                TextOf(program, before)};
      return recorded;
    }
  }
  return recorded;
}

Order::Order(const Program& program, const LockOrder& locks)
    : program_(program),
      own_(static_cast<std::size_t>(program.ranks)),
      position_(program.steps.size(), 0),
      completed_(program.steps.size(), kNever),
      fenced_(program.steps.size(), kNever),
      awaited_(program.steps.size(), kNever),
      clocks_(program.steps.size() * static_cast<std::size_t>(program.ranks), 0) {
  Number();
  FindFences();
  RunClocks(locks);
}

void Order::Number() {
  const int end = static_cast<int>(program_.steps.size());
  for (int at = 0; at < end; ++at) {
    const int rank = StepAt(at).rank;
    for (int r = 0; r < program_.ranks; ++r) {
      if (rank != r && rank != kEveryone) continue;
      position_[static_cast<std::size_t>(at)] = static_cast<int>(own_[static_cast<std::size_t>(r)].size());
      own_[static_cast<std::size_t>(r)].push_back(at);
    }
  }
  const std::vector<int> by = CompletedBy(program_);
  for (std::size_t at = 0; at < by.size(); ++at) {
    if (by[at] < end) completed_[at] = position_[static_cast<std::size_t>(by[at])];
  }
}

void Order::FindFences() {
  std::map<int, int> wait_of;  // by unit
  for (std::size_t at = 0; at < program_.steps.size(); ++at) {
    if (program_.steps[at].kind == Kind::kAwait) wait_of[program_.steps[at].unit] = position_[at];
  }
  for (const std::vector<int>& steps : own_) {
    std::vector<int> fence_to(static_cast<std::size_t>(program_.ranks), kNever);
    std::vector<int> wait_at(static_cast<std::size_t>(program_.ranks), kNever);
    for (int position = static_cast<int>(steps.size()) - 1; position >= 0; --position) {
      const int at = steps[static_cast<std::size_t>(position)];
      const Step& step = StepAt(at);
      const auto target = static_cast<std::size_t>(step.target);
      if (step.kind == Kind::kAllFence || step.kind == Kind::kBarrier) {
        std::fill(fence_to.begin(), fence_to.end(), position);
      } else if (step.kind == Kind::kFence) {
        fence_to[target] = position;
      } else if (step.kind == Kind::kNotify) {
        const auto wait = wait_of.find(step.unit);
        if (wait != wait_of.end()) wait_at[target] = wait->second;
      } else if (Stores(step.kind)) {
        fenced_[static_cast<std::size_t>(at)] = fence_to[target];
        awaited_[static_cast<std::size_t>(at)] = wait_at[target];
      }
    }
  }
}

std::vector<int> Order::Awaited(const LockOrder& locks) const {
  std::vector<int> awaited(program_.steps.size(), -1);
  std::map<int, int> first_of_unit;
  std::map<int, int> unlock_of_unit;
  for (std::size_t at = 0; at < program_.steps.size(); ++at) {
    const Step& step = program_.steps[at];
    if (step.kind == Kind::kNotify || step.kind == Kind::kSend) first_of_unit[step.unit] = static_cast<int>(at);
    if (step.kind == Kind::kAwait || step.kind == Kind::kReceive) awaited[at] = first_of_unit[step.unit];
    if (step.kind == Kind::kUnlock) unlock_of_unit[step.unit] = static_cast<int>(at);
  }
  for (const auto& [mutex, steps] : locks) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      awaited[static_cast<std::size_t>(steps[i])] = unlock_of_unit[StepAt(steps[i - 1]).unit];
    }
  }
  return awaited;
}

void Order::RunClocks(const LockOrder& locks) {
  const std::vector<int> awaited = Awaited(locks);
  const auto ranks = static_cast<std::size_t>(program_.ranks);
  now_.assign(ranks, std::vector<int>(ranks, 0));
  std::vector<std::size_t> at(ranks, 0);
  std::vector<bool> over(program_.steps.size(), false);
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      while (at[rank] < own_[rank].size()) {
        const int step = own_[rank][at[rank]];
        const auto index = static_cast<std::size_t>(step);
        if (StepAt(step).rank == kEveryone) {
          if (!Meet(at, step)) break;
          for (std::size_t& each : at) ++each;
          moved = true;
          continue;
        }
        const int before = awaited[index];
        if (before >= 0 && !over[static_cast<std::size_t>(before)]) break;
        for (std::size_t r = 0; r < ranks; ++r) {
          int& count = now_[rank][r];
          if (before >= 0) {
            const bool same = StepAt(before).rank == static_cast<int>(r);
            count = std::max(count, Clock(before, static_cast<int>(r)) + (same ? 1 : 0));
          }
          Clock(step, static_cast<int>(r)) = count;
        }
        over[index] = true;
        now_[rank][rank] = static_cast<int>(++at[rank]);
        moved = true;
      }
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) consistent_ = consistent_ && at[rank] == own_[rank].size();
}

// Whether all ranks have come to the barrier; if so, what any of them has seen is behind them all.
bool Order::Meet(const std::vector<std::size_t>& at, int step) {
  for (std::size_t rank = 0; rank < at.size(); ++rank) {
    if (at[rank] == own_[rank].size() || own_[rank][at[rank]] != step) return false;
  }
  std::vector<int> all(at.size());
  for (std::size_t rank = 0; rank < at.size(); ++rank) all[rank] = static_cast<int>(at[rank]) + 1;
  for (std::vector<int>& clock : now_) clock = all;
  return true;
}

bool Order::CompleteBefore(int store, int step) const {
  const Step& first = StepAt(store);
  return fenced_[static_cast<std::size_t>(store)] < Clock(step, first.rank) ||
         awaited_[static_cast<std::size_t>(store)] < Clock(step, first.target);
}

bool Order::StoreBeforeStore(int a, int b) const {
  const Step& first = StepAt(a);
  const Step& second = StepAt(b);
  if (CompleteBefore(a, b)) return true;
  // ORD-1 orders blocking stores as they are; by ORD-3 everything else needs a fence.
  return first.rank == second.rank && first.mode == Mode::kBlocking && second.mode == Mode::kBlocking && a < b;
}

bool Order::StoreBeforeRead(int store, int read) const {
  const Step& first = StepAt(store);
  const Step& second = StepAt(read);
  if (CompleteBefore(store, read)) return true;
  // ORD-4 speaks of get and of RMW; a load sees what is remotely complete.
  if (first.rank != second.rank || second.kind == Kind::kLoad) return false;
  if (IsRmw(second.kind)) return first.mode == Mode::kBlocking && store < read;
  return completed_[static_cast<std::size_t>(store)] < position_[static_cast<std::size_t>(read)];
}

bool Order::ReadBeforeStore(int read, int store) const {
  return completed_[static_cast<std::size_t>(read)] < Clock(store, StepAt(read).rank);
}

bool Order::ReadBeforeRead(int a, int b) const {
  return completed_[static_cast<std::size_t>(a)] < position_[static_cast<std::size_t>(b)];
}

}  // namespace conformance::history
