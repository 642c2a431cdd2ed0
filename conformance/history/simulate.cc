#include "conformance/history/simulate.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "conformance/harness/random.h"

namespace conformance::history {
namespace {

constexpr long kPoisonValue = 0x7B7B7B7B7B7B7B7B;

// One cell of a store on its way.
struct Store {
  int step;
  int location;
  long value;
  bool replaces;
  bool blocking;
  bool accumulate;
  bool waited = false;
  bool half_done = false;
  long loaded = 0;
};

class Machine {
 public:
  Machine(const Program& program, std::uint64_t seed, Fault fault)
      : program_(program),
        rng_(seed),
        fault_(fault),
        completed_by_(CompletedBy(program)),
        history_(program),
        under_way_(static_cast<std::size_t>(program.ranks)),
        next_(static_cast<std::size_t>(program.ranks), 0),
        half_done_(static_cast<std::size_t>(program.ranks), false) {
    for (int location = 0; location < program.locations(); ++location) {
      memory_.push_back(InitialValue(program, location));
    }
    before_ = memory_;
  }

  std::optional<History> Run() {
    const long limit = 10000 + 2000 * static_cast<long>(program_.steps.size());
    for (long turn = 0; turn < limit; ++turn) {
      time_ += 1;
      const auto rank = static_cast<std::size_t>(rng_.Below(next_.size()));
      if (rng_.Chance(1, 3)) {
        Deliver(rank);
        ReadSomePending();
      } else {
        Advance(static_cast<int>(rank));
      }
      if (Finished()) return std::move(history_);
    }
    return std::nullopt;
  }

 private:
  const Step& StepAt(int at) const { return program_.steps[static_cast<std::size_t>(at)]; }
  Interval& Time(int at) { return history_.times[static_cast<std::size_t>(at)]; }

  bool Finished() {
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      if (NextOf(static_cast<int>(rank)) < static_cast<int>(program_.steps.size())) return false;
    }
    for (int read : std::set<int>(pending_reads_)) Read(read);
    for (Interval& time : history_.times) {
      if (time.end == 0) time.end = time_ + 1;
    }
    return true;
  }

  // The next step of the rank: the index moves over those of others.
  int NextOf(int rank) {
    std::size_t& at = next_[static_cast<std::size_t>(rank)];
    while (at < program_.steps.size() && program_.steps[at].rank != rank && program_.steps[at].rank != kEveryone) ++at;
    return static_cast<int>(at);
  }

  void Advance(int rank) {
    const int at = NextOf(rank);
    if (at == static_cast<int>(program_.steps.size())) return;
    if (Time(at).start == 0) Time(at).start = time_;
    if (!Do(at, rank)) return;
    time_ += 1;
    if (completed_by_[static_cast<std::size_t>(at)] == at) Time(at).end = time_;
    ++next_[static_cast<std::size_t>(rank)];
  }

  // False: the rank must try again.
  bool Do(int at, int rank) {
    const Step& step = StepAt(at);
    switch (step.kind) {
      case Kind::kWait:
        Wait(at, rank);
        return true;
      case Kind::kFence:
        Fence(rank, step.target);
        return true;
      case Kind::kAllFence:
        FenceAll(rank);
        return true;
      case Kind::kLock:
        if (held_.count(step.number) > 0 && fault_ != Fault::kMutexLetsTwoIn) return false;
        held_.insert(step.number);
        return true;
      case Kind::kUnlock:
        Time(at).start = time_;
        held_.erase(step.number);
        return true;
      case Kind::kNotify:
        done_.insert(step.unit);
        return true;
      case Kind::kSend:
        done_.insert(step.unit);
        return true;
      case Kind::kAwait:
        if (done_.count(step.unit) == 0) return false;
        if (fault_ != Fault::kNotifyDoesNotOrder) Fence(step.target, rank);
        return true;
      case Kind::kReceive:
        return done_.count(step.unit) > 0;
      case Kind::kBarrier:
      case Kind::kMpiBarrier:
        return Barrier(at, rank);
      case Kind::kPause:
        return true;
      default:
        return Access(at, rank);
    }
  }

  bool Barrier(int at, int rank) {
    std::set<int>& arrived = arrived_[at];
    if (arrived.insert(rank).second && StepAt(at).kind == Kind::kBarrier && fault_ != Fault::kBarrierDoesNotFence) {
      FenceAll(rank);
    }
    return static_cast<int>(arrived.size()) == program_.ranks;
  }

  void FenceAll(int rank) {
    for (int target = 0; target < program_.ranks; ++target) Fence(rank, target);
  }

  void Fence(int rank, int target) {
    if (fault_ == Fault::kFenceDoesNothing) return;
    Flush(rank, [&](const Store& store) {
      return StepAt(store.step).target == target && (store.blocking || fault_ != Fault::kFenceForgetsNonblocking);
    });
  }

  template <typename Which>
  void Flush(int rank, Which which) {
    std::vector<Store>& stores = under_way_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < stores.size();) {
      if (!which(stores[i])) {
        ++i;
        continue;
      }
      while (!Apply(&stores[i])) continue;
      stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // One store of the rank arrives, or half of it.
  void Deliver(std::size_t rank) {
    std::vector<Store>& stores = under_way_[rank];
    if (stores.empty()) return;
    const auto chosen = static_cast<std::size_t>(rng_.Below(stores.size()));
    if (stores[chosen].blocking && fault_ != Fault::kReorderedPuts) {
      for (std::size_t i = 0; i < chosen; ++i) {
        if (stores[i].blocking && StepAt(stores[i].step).target == StepAt(stores[chosen].step).target) return;
      }
    }
    if (Apply(&stores[chosen])) stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(chosen));
  }

  // True when the store has arrived whole.
  bool Apply(Store* store) {
    long& memory = memory_[static_cast<std::size_t>(store->location)];
    if (fault_ == Fault::kTornElement && store->replaces) {
      constexpr long kLowHalf = 0xFFFFFFFF;
      const long half = store->half_done ? ~kLowHalf : kLowHalf;
      memory = (memory & ~half) | (store->value & half);
      return std::exchange(store->half_done, true);
    }
    if (fault_ == Fault::kLostAccumulate && store->accumulate) {
      if (!store->half_done) {
        store->loaded = memory;
        store->half_done = true;
        return false;
      }
      memory = store->loaded + store->value;
      return true;
    }
    memory = store->replaces ? store->value : memory + store->value;
    if (fault_ == Fault::kTwiceAccumulated && store->accumulate && rng_.Chance(1, 8)) memory += store->value;
    if (fault_ == Fault::kStrayWrite && rng_.Chance(1, 8)) {
      memory_[static_cast<std::size_t>(store->location + 1) % memory_.size()] = memory;
    }
    return true;
  }

  bool Access(int at, int rank) {
    const Step& step = StepAt(at);
    if (IsRmw(step.kind)) return ReadModifyWrite(at, rank);
    if (Stores(step.kind)) {
      for (std::size_t i = 0; i < step.cells.size(); ++i) {
        under_way_[static_cast<std::size_t>(rank)].push_back(
            {at, program_.Location(step.target, step.cells[i]), step.values[i], Replaces(step.kind),
             step.mode == Mode::kBlocking, step.kind == Kind::kAccumulate});
      }
      return true;
    }
    if (step.kind == Kind::kGet) FlushOwn(rank, step.target);
    if (step.mode == Mode::kBlocking) {
      Read(at);
    } else {
      pending_reads_.insert(at);
    }
    return true;
  }

  // The value that a get or RMW of the same rank must see (ORD-4).
  void FlushOwn(int rank, int target) {
    if (fault_ == Fault::kGetOvertakesPut) return;
    Flush(rank, [&](const Store& s) { return StepAt(s.step).target == target && (s.blocking || s.waited); });
  }

  bool ReadModifyWrite(int at, int rank) {
    const Step& step = StepAt(at);
    FlushOwn(rank, step.target);
    const int location = program_.Location(step.target, step.cells[0]);
    long& memory = memory_[static_cast<std::size_t>(location)];
    long& seen = history_.seen[static_cast<std::size_t>(at)][0];
    auto half_done = half_done_[static_cast<std::size_t>(rank)];
    if (!half_done) {
      seen = memory;
      if (fault_ == Fault::kStaleRmw && rng_.Chance(1, 4)) seen = before_[static_cast<std::size_t>(location)];
      if (fault_ == Fault::kLostRmw) {
        half_done = true;
        return false;
      }
    }
    half_done = false;
    before_[static_cast<std::size_t>(location)] = memory;
    const bool narrow = program_.cells[static_cast<std::size_t>(step.cells[0])].role == Role::kCounterInt;
    const long sum = seen + step.values[0];
    memory = Replaces(step.kind) ? step.values[0] : narrow ? static_cast<int>(sum) : sum;
    return true;
  }

  void Read(int at) {
    const Step& step = StepAt(at);
    for (std::size_t i = 0; i < step.cells.size(); ++i) {
      history_.seen[static_cast<std::size_t>(at)][i] =
          memory_[static_cast<std::size_t>(program_.Location(step.target, step.cells[i]))];
    }
    pending_reads_.erase(at);
  }

  void ReadSomePending() {
    for (int at : std::set<int>(pending_reads_)) {
      if (rng_.Chance(1, 4)) Read(at);
    }
  }

  void Wait(int at, int rank) {
    for (int i = 0; i < at; ++i) {
      if (completed_by_[static_cast<std::size_t>(i)] != at) continue;
      if (pending_reads_.count(i) > 0 && fault_ == Fault::kEarlyWait) {
        for (long& value : history_.seen[static_cast<std::size_t>(i)]) value = kPoisonValue;
        pending_reads_.erase(i);
      }
      if (pending_reads_.count(i) > 0) Read(i);
      Time(i).end = time_ + 1;
      for (Store& store : under_way_[static_cast<std::size_t>(rank)]) store.waited |= store.step == i;
    }
  }

  const Program& program_;
  Rng rng_;
  const Fault fault_;
  const std::vector<int> completed_by_;
  History history_;
  double time_ = 1;
  std::vector<long> memory_;
  std::vector<long> before_;                   // the value before the last RMW
  std::vector<std::vector<Store>> under_way_;  // by rank
  std::vector<std::size_t> next_;
  std::vector<bool> half_done_;  // the rank's RMW has read
  bool done_half_ = false;
  std::set<int> pending_reads_;
  std::set<int> held_;
  std::set<int> done_;  // units whose first side has happened
  std::map<int, std::set<int>> arrived_;
};

}  // namespace

std::optional<History> Simulate(const Program& program, std::uint64_t seed, Fault fault) {
  return Machine(program, seed, fault).Run();
}

}  // namespace conformance::history
