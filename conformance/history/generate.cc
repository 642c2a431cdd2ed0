#include "conformance/history/generate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "conformance/harness/random.h"

namespace conformance::history {
namespace {

// Cells of one role in a row, `spacing` bytes apart. Dense ones give small transfers, sparse ones large: a contiguous
// transfer covers what lies between its cells.
struct Block {
  Role role;
  int first;
  int count;
};

// A block at one rank.
struct Place {
  int host;
  std::size_t block;
};

class Generator {
 public:
  Generator(std::uint64_t seed, int ranks, const Recipe& recipe) : rng_(seed), recipe_(recipe) {
    program_.ranks = ranks;
    LayOut();
    const auto locations = static_cast<std::size_t>(program_.locations());
    acc_bits_.assign(locations, 0);
    rmw_bits_.assign(locations, 0);
    next_number_ = program_.locations() + 1;
  }

  Program Make() {
    const int wanted = recipe_.steps * program_.ranks;
    for (int i = 0; i < wanted; ++i) Act(AnyRank());
    End();
    return std::move(program_);
  }

 private:
  int Below(int n) { return static_cast<int>(rng_.Below(static_cast<std::uint64_t>(n))); }
  int AnyRank() { return Below(program_.ranks); }
  // Every second transfer goes to one rank, so that they meet.
  int AnyHost() { return rng_.Chance(1, 2) ? program_.ranks - 1 : AnyRank(); }

  void AddBlock(Role role, int count, int spacing) {
    blocks_.push_back({role, static_cast<int>(program_.cells.size()), count});
    for (int i = 0; i < count; ++i) program_.cells.push_back({role, next_offset_ + i * spacing});
    next_offset_ += count * spacing + 64;
  }

  void LayOut() {
    static constexpr int kSpacings[] = {16, 64, 520, 4104, 16392};
    if (!recipe_.counters_only) {
      AddBlock(Role::kData, 6, 8);
      AddBlock(Role::kData, 4, kSpacings[Below(5)]);
      AddBlock(Role::kSum, 4, 8);
      AddBlock(Role::kSum, 3, kSpacings[Below(5)]);
      AddBlock(Role::kMixed, 3, 8);
      if (recipe_.mutexes) AddBlock(Role::kGuarded, 4, 8);
    }
    AddBlock(Role::kCounterLong, 1, 8);
    AddBlock(Role::kCounterInt, 1, 8);
  }

  Step& Add(Kind kind, int rank, int target) {
    Step step;
    step.kind = kind;
    step.rank = rank;
    step.target = target;
    step.unit = ++units_;
    program_.steps.push_back(step);
    return program_.steps.back();
  }

  void Act(int rank) {
    const int dice = Below(100);
    if (recipe_.counters_only) return dice < 96 ? Counter(rank) : Synchronise(rank);
    if (dice < 14) return Synchronise(rank);
    if (dice < 24 && !closing_.empty()) return CloseOne();
    if (dice < 34 && !pending_.empty()) return WaitForOne();
    if (dice < 37) {
      Pause(rank);
    } else if (dice < 41) {
      Add(rng_.Chance(1, 2) ? Kind::kFence : Kind::kAllFence, rank, AnyRank());
    } else if (dice < 46) {
      Counter(rank);
    } else {
      Transfer(rank);
    }
  }

  void Pause(int rank) { Add(Kind::kPause, rank, rank).number = Below(400); }

  // SYNCHRONISATION

  void Synchronise(int rank) {
    enum { kBarriers, kCritical, kNotifications, kMessages };
    std::vector<int> kinds;
    if (recipe_.barriers) kinds.push_back(kBarriers);
    if (recipe_.mutexes && !recipe_.counters_only) kinds.insert(kinds.end(), 3, kCritical);
    if (recipe_.notifications) kinds.insert(kinds.end(), 3, kNotifications);
    if (recipe_.messages) kinds.insert(kinds.end(), 3, kMessages);
    if (kinds.empty()) return Pause(rank);
    switch (kinds[rng_.Below(kinds.size())]) {
      case kBarriers:
        return Barrier();
      case kCritical:
        return CriticalSection(rank);
      case kNotifications:
        return Promise(Kind::kNotify, Kind::kAwait, rank);
      default:
        // Most messages follow a fence; those that do not carry no stores, which the checker knows.
        if (rng_.Chance(7, 8)) Add(Kind::kAllFence, rank, 0);
        return Promise(Kind::kSend, Kind::kReceive, rank);
    }
  }

  void Barrier() {
    if (rng_.Chance(1, 2)) {
      Add(Kind::kBarrier, kEveryone, 0);
      return;
    }
    for (int rank = 0; rank < program_.ranks; ++rank) Add(Kind::kAllFence, rank, 0);
    Add(Kind::kMpiBarrier, kEveryone, 0);
  }

  // One side now, the other at some later time: at the latest at the end.
  void Promise(Kind now, Kind later, int rank) {
    // A notification carries the stores to its receiver.
    const bool to_last = now == Kind::kNotify && last_.count(rank) > 0 && rng_.Chance(2, 3);
    Step& step = Add(now, rank, to_last ? last_[rank].host : AnyRank());
    Step other = step;
    other.kind = later;
    std::swap(other.rank, other.target);
    closing_.push_back(other);
  }

  // First in, first out: the k-th wait for a rank is for its k-th notification.
  void CloseOne() {
    const Step step = closing_.front();
    closing_.pop_front();
    program_.steps.push_back(step);
    // From here on the value that the other side wrote differs from the one it wrote over.
    if (last_.count(step.target) == 0 || rng_.Chance(1, 4)) return;
    TransferAt(step.rank, last_[step.target], Kind::kGet);
  }

  void CriticalSection(int rank) {
    const int mutex = Below(kMutexes);
    Step lock = Add(Kind::kLock, rank, program_.MutexHost(mutex));
    program_.steps.back().number = lock.number = mutex;
    touched_.clear();
    const int transfers = 1 + Below(4);
    for (int i = 0; i < transfers; ++i) {
      // Each mutex guards every second cell of the guarded block, at all ranks.
      const Block& block = *std::find_if(blocks_.begin(), blocks_.end(),
                                         [](const Block& candidate) { return candidate.role == Role::kGuarded; });
      Guarded(rank, block.first + mutex + kMutexes * Below(block.count / kMutexes));
    }
    Add(Kind::kAllFence, rank, 0);
    lock.kind = Kind::kUnlock;
    program_.steps.push_back(lock);
  }

  void Guarded(int rank, int cell) {
    const int target = AnyRank();
    // Inside the section the stores to one cell must be in order among themselves, which takes blocking ones.
    const bool first = touched_.insert({target, cell}).second;
    Kind kinds[] = {Kind::kGet, Kind::kPut, Kind::kAccumulate, Kind::kFetchAndAdd, Kind::kSwap};
    Step& step = Access(first ? kinds[Below(5)] : Kind::kGet, rank, target, {cell});
    if (step.kind == Kind::kGet || IsRmw(step.kind)) return;
    if (rng_.Chance(1, 2)) ChooseMode(&step);
  }

  void End() {
    while (!closing_.empty()) CloseOne();
    Add(Kind::kBarrier, kEveryone, 0);
    for (int rank = 0; rank < program_.ranks; ++rank) {
      for (const Block& block : blocks_) {
        if (IsCounter(block.role)) {
          Step& last = Access(Kind::kFetchAndAdd, rank, rank, {block.first});
          last.values = {0};
          continue;
        }
        std::vector<int> cells;
        for (int i = 0; i < block.count; ++i) cells.push_back(block.first + i);
        Access(Kind::kLoad, rank, rank, cells);
        Access(Kind::kGet, rank, (rank + 1) % program_.ranks, cells);
      }
    }
  }

  // TRANSFERS

  // Adds an access to these cells, vector if there are several, with values of its own.
  Step& Access(Kind kind, int rank, int target, std::vector<int> cells) {
    Step& step = Add(kind, rank, target);
    step.shape = cells.size() > 1 ? Shape::kVector : Shape::kContiguous;
    step.cells = std::move(cells);
    GiveValues(&step);
    return step;
  }

  // A store gets values that no other store to these cells has; when they are used up it becomes a get.
  void GiveValues(Step* step) {
    if (!Stores(step->kind)) return;
    const bool counter = IsCounter(program_.cells[static_cast<std::size_t>(step->cells[0])].role);
    for (int cell : step->cells) {
      const long value = counter                ? rng_.Between(-1000, 1000)
                         : Replaces(step->kind) ? NewValue()
                                                : NewBit(step->kind, program_.Location(step->target, cell));
      step->values.push_back(value);
    }
    if (!counter && std::count(step->values.begin(), step->values.end(), 0) > 0) {
      step->kind = Kind::kGet;
      step->values.clear();
    }
    if (step->kind == Kind::kAccumulate) step->scale = 1 << Below(8);
  }

  // These give 0 when there are no more.
  long NewValue() { return next_number_ > kNumberMax ? 0 : ValueOf(next_number_++); }
  long NewBit(Kind kind, int location) {
    int& used = (kind == Kind::kAccumulate ? acc_bits_ : rmw_bits_)[static_cast<std::size_t>(location)];
    if (used == kBitsPerCell) return 0;
    return 1L << (used++ + (kind == Kind::kAccumulate ? 32 : 0));
  }

  void Counter(int rank) {
    // The last two blocks; few locations, so that ranks meet.
    const Block& block = blocks_[blocks_.size() - 1 - static_cast<std::size_t>(Below(2))];
    const int target = AnyHost();
    Access(rng_.Chance(2, 3) ? Kind::kFetchAndAdd : Kind::kSwap, rank, target, {block.first});
  }

  std::size_t AnyBlock() {
    while (true) {
      const auto block = static_cast<std::size_t>(rng_.Below(blocks_.size()));
      if (!IsCounter(blocks_[block].role) && blocks_[block].role != Role::kGuarded) return block;
    }
  }

  static int OwnerOfMixed(int target, int ranks) { return (target + 1) % ranks; }

  Kind AnyKind(Role role, int rank, int target) {
    if (rng_.Chance(4, 10)) return target == rank || recipe_.loads_anywhere ? ByGetOrLoad() : Kind::kGet;
    if (role == Role::kData) return Kind::kPut;
    if (role == Role::kSum) return Kind::kAccumulate;
    if (rank != OwnerOfMixed(target, program_.ranks)) return Kind::kGet;
    Kind kinds[] = {Kind::kPut, Kind::kAccumulate, Kind::kFetchAndAdd, Kind::kSwap};
    return kinds[Below(4)];
  }
  Kind ByGetOrLoad() { return rng_.Chance(1, 3) ? Kind::kLoad : Kind::kGet; }

  void Transfer(int rank) {
    Place place{AnyHost(), AnyBlock()};
    // Stores are worth most where others are pending.
    if (last_.count(rank) > 0 && rng_.Chance(1, 3)) place = last_[rank];
    Kind kind = AnyKind(blocks_[place.block].role, rank, place.host);
    // Reads are worth most where something has just been written.
    if (!Stores(kind) && !recent_.empty() && rng_.Chance(1, 2)) {
      place = recent_[rng_.Below(recent_.size())];
      kind = Kind::kGet;
    }
    TransferAt(rank, place, kind);
  }

  void TransferAt(int rank, Place place, Kind kind) {
    const Block& block = blocks_[place.block];
    const bool whole = kind != Kind::kLoad && !IsRmw(kind);
    Step shaped;
    if (whole) {
      ChooseCells(block, kind, &shaped);
    } else {
      shaped.cells = {block.first + Below(block.count)};
    }
    Step& step = Access(kind, rank, place.host, shaped.cells);
    step.shape = shaped.shape;
    step.row_cells = shaped.row_cells;
    if (whole && !(block.role == Role::kMixed && Stores(step.kind))) ChooseMode(&step);
    if (!Stores(step.kind)) return;
    // Two blocking stores to one cell in a row: a rank that sees the later must not see the earlier again.
    const bool again = step.kind == Kind::kPut && step.mode == Mode::kBlocking && rng_.Chance(1, 4);
    if (again) Access(Kind::kPut, rank, place.host, {shaped.cells[rng_.Below(shaped.cells.size())]});
    last_[rank] = place;
    recent_.push_back(place);
    if (recent_.size() > 3) recent_.pop_front();
  }

  void ChooseCells(const Block& block, Kind kind, Step* step) {
    const int shape = Below(4);
    const int first = Below(block.count);
    if (shape == 0) {
      // Accumulates have no form with a value.
      step->cells = {block.first + first};
      step->shape = kind == Kind::kAccumulate ? Shape::kContiguous : Shape::kValue;
    } else if (shape == 1) {
      step->shape = Shape::kContiguous;
      const int last = first + Below(block.count - first);
      for (int i = first; i <= last; ++i) step->cells.push_back(block.first + i);
      step->row_cells = static_cast<int>(step->cells.size());
    } else if (shape == 2) {
      step->shape = Shape::kStrided;
      step->row_cells = 1 + Below(2);
      const int stride = step->row_cells + Below(2);
      const int start = Below(block.count - step->row_cells + 1);
      for (int row = start; row + step->row_cells <= block.count; row += stride) {
        for (int i = 0; i < step->row_cells; ++i) step->cells.push_back(block.first + row + i);
      }
    } else {
      step->shape = Shape::kVector;
      for (int i = 0; i < block.count; ++i) step->cells.push_back(block.first + i);
      rng_.Shuffle(&step->cells);
      step->cells.resize(static_cast<std::size_t>(1 + Below(block.count)));
    }
  }

  void ChooseMode(Step* step) {
    // The value get has no non-blocking form.
    if ((step->kind == Kind::kGet && step->shape == Shape::kValue) || rng_.Chance(1, 2)) return;
    step->mode = kModes[1 + Below(3)];
    step->handle =
        step->mode == Mode::kImplicit ? kImplicitHandle : Below(2) + (step->mode == Mode::kAggregate ? 2 : 0);
    pending_.insert({step->rank, step->handle});
  }

  void WaitForOne() {
    const auto chosen = std::next(pending_.begin(), Below(static_cast<int>(pending_.size())));
    Add(Kind::kWait, chosen->first, chosen->first).handle = chosen->second;
    pending_.erase(chosen);
  }

  Rng rng_;
  const Recipe recipe_;
  Program program_;
  std::vector<Block> blocks_;
  int next_offset_ = 0;
  int units_ = 0;
  int next_number_ = 1;
  std::vector<int> acc_bits_;  // used so far, by location
  std::vector<int> rmw_bits_;
  std::deque<Step> closing_;               // waits and receives that must still come
  std::set<std::pair<int, int>> pending_;  // (rank, handle) with pending operations
  std::set<std::pair<int, int>> touched_;  // (host, cell) in the critical section
  std::deque<Place> recent_;               // written lately, by any rank
  std::map<int, Place> last_;              // written last, by rank
};

}  // namespace

Program Generate(std::uint64_t seed, int ranks, const Recipe& recipe) { return Generator(seed, ranks, recipe).Make(); }

}  // namespace conformance::history
