// LC: random programs whose every read has a known set of legal answers.
//
// The memory is an array of cells spread over all ranks. In each epoch every cell has one writer; epochs are separated
// by a synchronisation drawn from the list of LC-1. A reader of a cell may see the last version of the epoch before,
// or any version written in this epoch: nothing older, nothing else, nothing torn. The writer sees its own last write.
//
//      epoch e: owner(c) = w        sync            epoch e+1: owner(c) = v
//    w: v5 ... v6 ... v7           --->          r: reads v7, v8, v9 ... never v6
//    r: reads v4, v5, v6 or v7

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr int kCells = 96;  // on each rank

// A cell's value names cell and version, twice: once in each half.
long Encode(int cell, long version) {
  const long half = version * 1024 + cell;
  return (half << 32) | half;
}

class RandomProgram {
 public:
  RandomProgram()
      : region_(kCells * 8),
        total_(Np() * kCells),
        committed_(static_cast<std::size_t>(total_), 0),
        current_(static_cast<std::size_t>(total_), 0),
        newest_read_(static_cast<std::size_t>(total_), 0),
        writer_(static_cast<std::size_t>(total_), 0) {
    for (int cell = 0; cell < kCells; ++cell) {
      StoreShared<long>(region_.As<long>(Me(), static_cast<std::size_t>(cell)), Encode(cell, 0));
    }
    Sync();
  }

  void Epoch(int number, int steps) {
    epoch_ = number;
    for (int& writer : writer_) writer = static_cast<int>(SharedRng().Below(static_cast<std::uint64_t>(Np())));
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      if (MyRng().Chance(1, 2)) {
        Write(static_cast<int>(MyRng().Below(static_cast<std::uint64_t>(Np()))));
      } else {
        ReadSome(static_cast<int>(MyRng().Below(static_cast<std::uint64_t>(Np()))));
      }
    }
    EXPECT_EQ(ARMCI_WaitAll(), 0);
    Synchronise();
    Commit();
  }

 private:
  std::size_t Index(int host, int cell) const { return static_cast<std::size_t>(host * kCells + cell); }

  // New versions for some of the cells that are mine at `host`, by one call of a random shape and mode.
  void Write(int host) {
    std::vector<int> cells;
    const int first = static_cast<int>(MyRng().Below(kCells));
    for (int cell = first; cell < kCells && cells.size() < 8; ++cell) {
      if (writer_[Index(host, cell)] == Me()) cells.push_back(cell);
    }
    if (cells.empty()) return;
    const Mode mode = kModes[MyRng().Below(4)];
    const bool single = MyRng().Chance(1, 3);
    if (single) cells.resize(1);
    // A non-blocking store and any other one to the same cell are unordered without a fence.
    if (unordered_ || (stored_ && mode != Mode::kBlocking)) Fence();
    std::vector<Segment> segments;
    std::vector<long> source;
    for (int cell : cells) {
      long& version = current_[Index(host, cell)];
      segments.push_back({8 * static_cast<std::ptrdiff_t>(source.size()), 8 * cell, 8});
      source.push_back(Encode(cell, ++version));
    }
    const Plan plan = single ? (MyRng().Chance(1, 2) ? ValuePlan(8) : ContiguousPlan(8)) : VectorPlan({segments});
    char* to = region_.At(host) + (single ? 8 * cells[0] : 0);
    ASSERT_EQ(Move(plan, Op::kPut, mode, reinterpret_cast<char*>(source.data()), to, host), 0);
    stored_ = true;
    unordered_ = unordered_ || mode != Mode::kBlocking;
  }

  void Fence() {
    ARMCI_AllFence();
    stored_ = unordered_ = false;
  }

  // Reads a run of cells at `host` by get, strided get, value get or load, and checks each.
  void ReadSome(int host) {
    const int first = static_cast<int>(MyRng().Below(kCells));
    const int count = 1 + static_cast<int>(MyRng().Below(static_cast<std::uint64_t>(std::min(16, kCells - first))));
    std::vector<long> seen(static_cast<std::size_t>(count));
    char* from = region_.At(host, static_cast<std::size_t>(8 * first));
    std::uint64_t how = MyRng().Below(4);
    if (how == kByLoad && !SameNode(host)) how = 3;
    if (how == kByLoad) {
      for (int i = 0; i < count; ++i) seen[static_cast<std::size_t>(i)] = LoadShared<long>(from + 8 * i);
    } else if (how == 1) {
      for (int i = 0; i < count; ++i) seen[static_cast<std::size_t>(i)] = ARMCI_GetValueLong(from + 8 * i, host);
    } else if (how == 2) {
      const Plan plan = StridedPlan({8, count}, {8}, {8});
      ASSERT_EQ(Move(plan, Op::kGet, Mode::kNonblocking, from, reinterpret_cast<char*>(seen.data()), host), 0);
    } else {
      ASSERT_EQ(ARMCI_Get(from, seen.data(), 8 * count, host), 0);
    }
    for (int i = 0; i < count; ++i) Check(host, first + i, seen[static_cast<std::size_t>(i)], how);
  }

  void Check(int host, int cell, long value, std::uint64_t how) {
    const std::size_t index = Index(host, cell);
    const long version = (value & 0xFFFFFFFF) / 1024;
    const std::string text = "cell " + std::to_string(cell) + " of rank " + std::to_string(host) + ", epoch " +
                             std::to_string(epoch_) + ", read in way " + std::to_string(how) + SeedText();
    ASSERT_EQ(value, Encode(cell, version)) << "LC-3: torn, or never written: " << text;
    // A load sees a store that is remotely complete; the writer's own last one need not be.
    if (writer_[index] == Me() && how != kByLoad) {
      ASSERT_EQ(version, current_[index]) << "ORD-4: the writer's own last write: " << text;
    } else {
      ASSERT_GE(version, committed_[index]) << "LC-1: hidden by a later write before the synchronisation: " << text;
    }
    newest_read_[index] = std::max(newest_read_[index], version);
  }

  // Each of these orders every write of the epoch before every read of the next.
  void Synchronise() {
    switch (SharedRng().Below(LibraryHas("armci_notify") ? 4 : 3)) {
      case 0:
        ARMCI_Barrier();
        break;
      case 1:
        ARMCI_AllFence();
        MPI_Barrier(Comm());
        break;
      case 2:
        for (int p = 0; p < Np(); ++p) ARMCI_Fence(p);
        armci_msg_barrier();
        break;
      default:
        // Every rank notifies every rank. A notification covers only the stores to its receiver, so a fence completes
        // the rest first.
        ARMCI_AllFence();
        for (int p = 0; p < Np(); ++p) EXPECT_EQ(armci_notify(p), 0);
        for (int p = 0; p < Np(); ++p) {
          int count = 0;
          EXPECT_EQ(armci_notify_wait(p, &count), 0);
        }
    }
    stored_ = unordered_ = false;
  }

  // The writers publish their count; no reader can have read more.
  void Commit() {
    for (std::size_t index = 0; index < current_.size(); ++index) {
      if (writer_[index] != Me()) current_[index] = committed_[index];
    }
    MPI_Allreduce(current_.data(), committed_.data(), total_, MPI_LONG, MPI_MAX, Comm());
    for (std::size_t index = 0; index < current_.size(); ++index) {
      EXPECT_LE(newest_read_[index], committed_[index]) << "LC-3: a version before it was written" << SeedText();
    }
    current_ = committed_;
  }

  // Of the ways to read: the one that is no call.
  static constexpr std::uint64_t kByLoad = 0;

  Region region_;
  const int total_;
  std::vector<long> committed_;  // versions at the last synchronisation
  std::vector<long> current_;    // and now, as far as this rank writes them
  std::vector<long> newest_read_;
  std::vector<int> writer_;
  bool stored_ = false;     // since the last fence
  bool unordered_ = false;  // by a call that does not block
  int epoch_ = 0;
};

CLAUSE_TEST(LC, LC1_random_programs_with_one_writer_per_cell_and_epoch, "LC-1", "LC-2", "LC-3", "ORD-4",
            DeadlineSeconds(60)) {
  RandomProgram program;
  for (int epoch = 0; epoch < Rounds(1500, 100); ++epoch) {
    program.Epoch(epoch, 100);
    Agree();
  }
}

CLAUSE_TEST(LC, LC1_unlock_to_lock_carries_fenced_stores, "LC-1", "MUTEX-2", DeadlineSeconds(60)) {
  // A block of words spread over all ranks belongs to the holder of the mutex; all words always hold one number.
  constexpr int kWords = 24;
  Region region(kWords * 64);
  Mutexes mutexes(1);
  const int host = Np() - 1;
  long last_seen = 0;
  Sync();
  Race race(AllRanks(), Scaled(3000L, 300L));
  while (race.GoOn()) {
    Locked held(0, host);
    long number = -1;
    EXPECT_EQ(ARMCI_Get(region.At(0), &number, 8, 0), 0);
    EXPECT_GE(number, last_seen) << "an older state than this rank has seen" << SeedText();
    for (int p = 0; p < Np(); ++p) {
      for (int word = 0; word < kWords; ++word) {
        char* at = region.At(p, static_cast<std::size_t>(64 * word));
        const long seen = SameNode(p) && MyRng().Chance(1, 2) ? LoadShared<long>(at) : ARMCI_GetValueLong(at, p);
        EXPECT_EQ(seen, number) << "word " << word << " of rank " << p << SeedText();
      }
    }
    last_seen = number + 1;
    std::vector<long> source(kWords, last_seen);
    const Plan plan = MyRng().Chance(1, 2) ? StridedPlan({8, kWords}, {8}, {64}) : [&] {
      std::vector<Segment> segments;
      for (int word = 0; word < kWords; ++word) segments.push_back({8 * word, 64 * word, 8});
      return VectorPlan({segments});
    }();
    const Mode mode = kModes[MyRng().Below(3)];
    for (int p = 0; p < Np(); ++p) {
      EXPECT_EQ(Move(plan, Op::kPut, mode, reinterpret_cast<char*>(source.data()), region.At(p), p), 0);
    }
    ARMCI_AllFence();
  }
}

// By turns, which messages pass on: a rank that has read a word reads it anew when another one has put to it.
CLAUSE_TEST(LC, LC1_a_word_is_read_anew_after_another_holder, "LC-1", "MUTEX-2", NeedsRanks(2)) {
  Region region(64);
  Mutexes mutexes(1);
  const int home = Np() - 1;
  Sync();
  for (long turn = 0; turn < 2L * Np(); ++turn) {
    if (turn % Np() == Me()) {
      Locked held(0, home);
      long word = -1;
      EXPECT_EQ(ARMCI_Get(region.At(home), &word, sizeof word, home), 0);
      EXPECT_EQ(word, turn) << SeedText();
      const long next = turn + 1;
      EXPECT_EQ(ARMCI_Put(const_cast<long*>(&next), region.At(home), sizeof next, home), 0);
      ARMCI_Fence(home);
    }
    Agree();
  }
}

CLAUSE_TEST(LC, LC1_a_message_after_a_fence_carries_the_stores, "LC-1", "FENCE-1", NeedsRanks(2)) {
  // A token travels round the ring; its holder adds to a counter at each rank by plain get and put.
  Region region(64);
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  const int laps = Rounds(1000, 150);
  Sync();
  for (int lap = 0; lap < laps; ++lap) {
    long token = static_cast<long>(lap) * Np() + Me();
    if (token > 0) MPI_Recv(&token, 1, MPI_LONG, left, 8, Comm(), MPI_STATUS_IGNORE);
    for (int p = 0; p < Np(); ++p) {
      long value = -1;
      if (SameNode(p) && lap % 2 == 0) {
        value = LoadShared<long>(region.At(p));
      } else {
        EXPECT_EQ(ARMCI_Get(region.At(p), &value, 8, p), 0);
      }
      EXPECT_EQ(value, token) << "counter of rank " << p << ", lap " << lap << SeedText();
      ++value;
      EXPECT_EQ(ARMCI_NbPut(&value, region.At(p), 8, p, nullptr), 0);
      EXPECT_EQ(ARMCI_WaitProc(p), 0);
    }
    ARMCI_AllFence();
    const bool last = lap == laps - 1 && Me() == Np() - 1;
    ++token;
    if (!last) MPI_Send(&token, 1, MPI_LONG, right, 8, Comm());
  }
}

template <typename T>
void TornElements() {
  // Writers overwrite the same elements with numbers whose bytes are all alike; readers must never see a mixture.
  constexpr int kElements = 256;
  Region region(kElements * sizeof(T) + 64);
  const int target = Np() - 1;
  const bool writes = Me() % 2 == 0;
  std::vector<Plan> plans;
  for (int i = 0; i < 24; ++i) {
    // Single elements, and sizes on both sides of vector registers.
    plans.push_back(PlanOfSize(kShapes[i % 3], (std::size_t{1} << (i / 3)) * sizeof(T), sizeof(T)));
    if (plans.back().DstEnd() > static_cast<std::ptrdiff_t>(kElements * sizeof(T))) plans.pop_back();
  }
  std::vector<T> local(kElements * 2);
  Race race(AllRanks(), Scaled(10000L, 1000L));
  while (race.GoOn()) {
    const auto step = static_cast<std::size_t>(race.steps());
    if (writes) {
      std::memset(local.data(), 1 + static_cast<int>(MyRng().Below(250)), local.size() * sizeof(T));
      const Plan& plan = plans[step % plans.size()];
      EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, reinterpret_cast<char*>(local.data()), region.At(target), target),
                0);
      continue;
    }
    if (step % 2 == 0 && SameNode(target)) {
      for (std::size_t i = 0; i < kElements; ++i) local[i] = LoadShared<T>(region.template As<T>(target, i));
    } else {
      EXPECT_EQ(ARMCI_Get(region.At(target), local.data(), kElements * sizeof(T), target), 0);
    }
    for (std::size_t i = 0; i < kElements; ++i) {
      T whole;
      std::memset(&whole, static_cast<int>(local[i] & 0xFF), sizeof whole);
      ASSERT_EQ(local[i], whole) << "torn element of " << sizeof(T) << " bytes" << SeedText();
    }
  }
}

// As above, with stores that no network moves in one piece; only the target looks, all the time.
template <typename T>
void TornElementsOfLargeStores() {
  constexpr std::size_t kElements = 16384;
  Region region(2 * kElements * sizeof(T));
  const int target = Np() - 1;
  std::vector<Plan> plans;
  for (const Shape shape : kShapes) {
    for (const std::size_t part : {1, 4, 16}) {
      plans.push_back(PlanOfSize(shape, kElements / part * sizeof(T), sizeof(T)));
      if (plans.back().DstEnd() > static_cast<std::ptrdiff_t>(2 * kElements * sizeof(T))) plans.pop_back();
    }
  }
  std::vector<T> local(3 * kElements);
  MPI_Request all_stored = MPI_REQUEST_NULL;
  if (Me() != target) {
    for (int round = 0; round < Scaled(2000, 400); ++round) {
      const Plan& plan = plans[static_cast<std::size_t>(round) % plans.size()];
      std::memset(local.data(), 1 + static_cast<int>(MyRng().Below(250)), local.size() * sizeof(T));
      EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, reinterpret_cast<char*>(local.data()), region.At(target), target),
                0);
      ARMCI_Fence(target);
    }
  }
  MPI_Ibarrier(Comm(), &all_stored);
  for (int done = 0; done == 0; MPI_Test(&all_stored, &done, MPI_STATUS_IGNORE)) {
    for (std::size_t i = 0; Me() == target && i < 2 * kElements; ++i) {
      const T seen = LoadShared<T>(region.template As<T>(target, i));
      T whole;
      std::memset(&whole, static_cast<int>(seen & 0xFF), sizeof whole);
      if (seen == whole) continue;
      ADD_FAILURE() << "torn element " << i << " of " << sizeof(T) << " bytes: " << std::hex << seen << SeedText();
      break;
    }
  }
}

CLAUSE_TEST(LC, LC3_no_torn_elements_of_large_stores, "LC-3", NeedsRanks(2), DeadlineSeconds(60)) {
  TornElementsOfLargeStores<unsigned int>();
  TornElementsOfLargeStores<unsigned long>();
}

CLAUSE_TEST(LC, LC3_no_torn_elements_of_4_and_8_bytes, "LC-3", NeedsRanks(2), DeadlineSeconds(60)) {
  TornElements<unsigned int>();
  TornElements<unsigned long>();
}

}  // namespace
}  // namespace conformance
