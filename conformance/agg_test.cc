// AGG: aggregate handles.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kSlot = 1 << 20;

CLAUSE_TEST(AGG, AGG1_many_puts_of_any_size_to_one_target, "AGG-1", DeadlineSeconds(60)) {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    Bytes out(kSlot);
    MyRng().Fill(out.data(), out.size());
    std::size_t at = kGuard;
    for (int i = 0; at + 70000 < kSlot; ++i) {
      // Mostly small, now and then large: both below and above any threshold for combining.
      const std::size_t bytes = i % 40 == 39 ? 60000 : 1 + MyRng().Below(300);
      std::copy_n(out.data() + at, bytes, arena.Image(target) + at);
      ASSERT_EQ(ARMCI_NbPut(out.data() + at, arena.Slot(target) + at, static_cast<int>(bytes), target, &handle), 0);
      at += bytes + MyRng().Below(16);
    }
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    std::fill(out.begin(), out.end(), 'X');
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    if (!arena.Verify(target, "aggregate of puts")) return;
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG1_many_gets, "AGG-1") {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    ARMCI_Fence(target);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    Bytes in(kSlot, 'g');
    Bytes expected(kSlot, 'g');
    std::size_t at = kGuard;
    for (int i = 0; at + 70000 < kSlot; ++i) {
      const std::size_t bytes = i % 40 == 39 ? 60000 : 1 + MyRng().Below(300);
      std::copy_n(arena.Image(target) + at, bytes, expected.data() + at);
      ASSERT_EQ(ARMCI_NbGet(arena.Slot(target) + at, in.data() + at, static_cast<int>(bytes), target, &handle), 0);
      at += bytes + MyRng().Below(16);
    }
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    EXPECT_TRUE(SameBytes(expected.data(), in.data(), kSlot)) << "target " << target << SeedText();
  }
}

constexpr std::size_t kWindow = 8192;
constexpr int kPieces = 100;
constexpr Op kOps[] = {Op::kPut, Op::kGet, Op::kAcc};

// The shapes in which an operation can be aggregated.
std::vector<Shape> ShapesOf(Op op) {
  std::vector<Shape> shapes;
  for (const Way& way : AllCalls()) {
    if (way.op == op && way.width == Width::kClassic) shapes.push_back(way.shape);
  }
  return shapes;
}

// Transfers through one aggregate handle, each in a window of its own of the slot and of the local buffer. The slot
// holds elements of kTableType.
class MixedAggregate {
 public:
  explicit MixedAggregate(Arena* arena) : arena_(arena), local_(kSlot) {
    FillElements(&MyRng(), kTableType, local_.data(), local_.size());
    expected_ = local_;
    ARMCI_INIT_HANDLE(&handle_);
    ARMCI_SET_AGGREGATE_HANDLE(&handle_);
  }

  void Add(Op op, const Plan& plan, int target, Width width = Width::kClassic) {
    const std::size_t at = kGuard + transfers_.size() * kWindow;
    char* here = local_.data() + at;
    char* there = arena_->Slot(target) + at;
    char* image = arena_->Image(target) + at;
    plans_.push_back(std::make_unique<Plan>(plan));
    transfers_.push_back(std::make_unique<Transfer>(*plans_.back(), op, Mode::kAggregate, width));
    Transfer& transfer = *transfers_.back();
    transfer.SetAcc(kTableType, UnitScale(kTableType));
    if (op == Op::kGet) ModelCopy(plan, image, expected_.data() + at);
    if (op == Op::kPut) ModelCopy(plan, here, image);
    if (op == Op::kAcc) ModelAcc(plan, kTableType, UnitScale(kTableType).bytes, here, image);
    const int code = op == Op::kGet ? transfer.StartOn(&handle_, there, here, target)
                                    : transfer.StartOn(&handle_, here, there, target);
    EXPECT_EQ(code, 0) << NameOf(op) << " " << plan.Text();
  }

  // Pieces of all shapes by turns.
  void AddAll(Op op, int target) {
    const std::vector<Shape> shapes = ShapesOf(op);
    for (std::size_t i = 0; i < kPieces; ++i) {
      Add(op, RandomPlan(&MyRng(), shapes[i % shapes.size()], kWindow - 64, 8), target);
    }
  }

  void Unset() { ARMCI_UNSET_AGGREGATE_HANDLE(&handle_); }
  void Wait() { EXPECT_EQ(ARMCI_Wait(&handle_), 0); }

  // After local completion: gets have brought their data, and the sources of stores belong to the program.
  bool CheckLocal(const std::string& text) {
    const auto same = SameBytes(expected_.data(), local_.data(), kSlot);
    EXPECT_TRUE(same) << text << SeedText();
    std::fill(local_.begin(), local_.end(), 'X');
    return same;
  }

 private:
  Arena* const arena_;
  armci_hdl_t handle_;
  Bytes local_;
  Bytes expected_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
};

// Pieces of one length, in no order of their places: what can leave as one list. Numbers around those at which a
// library may issue the operations that it has aggregated.
constexpr std::size_t kPlaces = 1030;
constexpr std::size_t kPlaceBytes = 528;
static_assert(kGuard + kPlaces * kPlaceBytes < kSlot);

class EqualPieces {
 public:
  EqualPieces(Arena* arena, int target) : arena_(arena), target_(target), local_(kSlot), expected_(kSlot) {
    MyRng().Fill(local_.data(), local_.size());
    expected_ = local_;
    for (std::size_t i = 0; i < kPlaces; ++i) order_.push_back(i);
    MyRng().Shuffle(&order_);
    ARMCI_INIT_HANDLE(&handle_);
    ARMCI_SET_AGGREGATE_HANDLE(&handle_);
  }

  void Start(Op op, std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = kGuard + order_[i] * kPlaceBytes;
      const int code = StartOne(op, local_.data() + at, arena_->Slot(target_) + at, static_cast<int>(bytes));
      ASSERT_EQ(code, 0) << NameOf(op) << " " << i << " of " << count;
      Model(op, expected_.data() + at, arena_->Image(target_) + at, bytes);
    }
  }

  bool WaitAndCheck(const std::string& text) {
    EXPECT_EQ(ARMCI_Wait(&handle_), 0) << text;
    const auto same = SameBytes(expected_.data(), local_.data(), kSlot);
    EXPECT_TRUE(same) << text << SeedText();
    std::fill(local_.begin(), local_.end(), 'X');
    return same && arena_->Verify(target_, text);
  }

 private:
  int StartOne(Op op, char* here, char* there, int bytes) {
    if (op == Op::kPut) return ARMCI_NbPut(here, there, bytes, target_, &handle_);
    if (op == Op::kGet) return ARMCI_NbGet(there, here, bytes, target_, &handle_);
    long scale = kScale;
    return ARMCI_NbAcc(ARMCI_ACC_LNG, &scale, here, there, bytes, target_, &handle_);
  }

  static void Model(Op op, char* here, char* image, std::size_t bytes) {
    if (op == Op::kPut) std::copy_n(here, bytes, image);
    if (op == Op::kGet) std::copy_n(image, bytes, here);
    for (std::size_t i = 0; op == Op::kAcc && i < bytes; i += sizeof(long)) {
      unsigned long sum = 0;
      unsigned long mine = 0;
      std::memcpy(&sum, image + i, sizeof sum);
      std::memcpy(&mine, here + i, sizeof mine);
      sum += kScale * mine;
      std::memcpy(image + i, &sum, sizeof sum);
    }
  }

  static constexpr long kScale = 3;
  Arena* const arena_;
  const int target_;
  armci_hdl_t handle_;
  Bytes local_;
  Bytes expected_;
  std::vector<std::size_t> order_;
};

CLAUSE_TEST(AGG, AGG1_pieces_of_one_length_in_any_number, "AGG-1", "AGG-2", DeadlineSeconds(60)) {
  Arena arena(kSlot);
  for (int target : TableTargets()) {
    for (Op op : kOps) {
      for (const std::size_t count : {1u, 2u, 3u, 64u, 65u, 256u, 257u, 1000u, 1023u, 1024u, 1025u}) {
        for (const std::size_t bytes : {8u, 512u, 520u}) {
          if (Quick() && count > 64 && bytes > 8) continue;
          const std::string text =
              std::string(NameOf(op)) + ", " + std::to_string(count) + " pieces of " + std::to_string(bytes) + " bytes";
          arena.Refill(&MyRng(), target);
          EqualPieces pieces(&arena, target);
          pieces.Start(op, count, bytes);
          if (!pieces.WaitAndCheck(text)) return;
        }
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG2_shapes_mix_in_one_handle, "AGG-2", "AGG-1", DeadlineSeconds(60)) {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    for (int round = 0; round < Scaled(10, 1); ++round) {
      for (Op op : kOps) {
        const std::string text = std::string("mixed aggregate of ") + NameOf(op);
        arena.Refill(&MyRng(), target, &kTableType);
        MixedAggregate aggregate(&arena);
        aggregate.AddAll(op, target);
        aggregate.Wait();
        if (!aggregate.CheckLocal(text)) return;
        aggregate.Unset();
        if (!arena.Verify(target, text)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG1_operations_and_targets_by_turns, "AGG-1", "AGG-2", DeadlineSeconds(60)) {
  Arena arena(kSlot);
  const std::vector<int> targets = TableTargets();
  std::vector<Way> ways = WaysThat([](const Way& way) { return way.mode == Mode::kAggregate; });
  for (int round = 0; round < Scaled(10, 3); ++round) {
    for (int target : targets) arena.Refill(&MyRng(), target, &kTableType);
    MyRng().Shuffle(&ways);
    MixedAggregate aggregate(&arena);
    for (std::size_t i = 0; i < kPieces; ++i) {
      const Way& way = ways[i % ways.size()];
      const std::size_t bytes = way.shape == Shape::kValue ? 8 : 8 * (1 + MyRng().Below(500));
      // Runs of one target, and changes after every piece.
      aggregate.Add(way.op, PlanOf(way, bytes), targets[(round % 2 == 0 ? i : i / 7) % targets.size()], way.width);
    }
    aggregate.Wait();
    if (!aggregate.CheckLocal("operations and targets by turns")) return;
    aggregate.Unset();
    for (int target : targets) {
      if (!arena.Verify(target, "operations and targets by turns")) return;
    }
  }
  arena.VerifyByOwners();
}

// An aggregate, and then the same handle for an ordinary put, and later for a get.
bool AggregateThenNormal(long round, Arena* arena, int target, armci_hdl_t* handle) {
  char* slot = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  ARMCI_SET_AGGREGATE_HANDLE(handle);
  long value = round;
  std::memcpy(image, &value, 8);
  EXPECT_EQ(ARMCI_NbPut(&value, slot, 8, target, handle), 0);
  EXPECT_EQ(ARMCI_Wait(handle), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(handle);
  long other = 1000 + round;
  std::memcpy(image + 64, &other, 8);
  EXPECT_EQ(ARMCI_NbPut(&other, slot + 64, 8, target, handle), 0);
  EXPECT_EQ(ARMCI_Wait(handle), 0);
  ARMCI_Fence(target);
  long back = -1;
  EXPECT_EQ(ARMCI_NbGet(slot + 64, &back, 8, target, handle), 0);
  EXPECT_EQ(ARMCI_Wait(handle), 0);
  EXPECT_EQ(back, other);
  return arena->Verify(target, "aggregate, then normal");
}

CLAUSE_TEST(AGG, AGG3_unset_returns_the_handle_to_normal_use, "AGG-3") {
  Arena arena(4096);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (int round = 0; round < 10; ++round) {
      if (!AggregateThenNormal(round, &arena, target, &handle)) return;
    }
  }
}

CLAUSE_TEST(AGG, AGG3_unset_before_the_wait_keeps_what_was_gathered, "AGG-3") {
  Arena arena(kSlot);
  for (int target : TableTargets()) {
    for (Op op : kOps) {
      const std::string text = std::string("unset, then wait: ") + NameOf(op);
      arena.Refill(&MyRng(), target, &kTableType);
      MixedAggregate aggregate(&arena);
      aggregate.AddAll(op, target);
      aggregate.Unset();
      aggregate.Wait();
      if (!aggregate.CheckLocal(text) || !arena.Verify(target, text)) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG3_fence_completes_an_unfinished_aggregate, "AGG-3", "FENCE-1") {
  Arena arena(kSlot);
  for (int target : TableTargets()) {
    for (Op op : kOps) {
      const std::string text = std::string("after the fence, before any wait: ") + NameOf(op);
      arena.Refill(&MyRng(), target, &kTableType);
      MixedAggregate aggregate(&arena);
      aggregate.AddAll(op, target);
      ARMCI_Fence(target);
      Bytes back(kSlot);
      EXPECT_EQ(ARMCI_Get(arena.Slot(target), back.data(), static_cast<int>(kSlot), target), 0);
      EXPECT_TRUE(SameBytes(arena.Image(target), back.data(), kSlot)) << text;
      aggregate.CheckLocal(text);
      aggregate.Wait();
      aggregate.Unset();
    }
  }
  arena.VerifyByOwners();
}

// The content that `origin` expects in its slot here, against the content right after the barrier.
void ExpectSlotOf(int origin, const Bytes& seen, const char* image, int target) {
  Bytes expected(kSlot);
  MPI_Sendrecv(image, static_cast<int>(kSlot), MPI_CHAR, target, 0, expected.data(), static_cast<int>(kSlot), MPI_CHAR,
               origin, 0, Comm(), MPI_STATUS_IGNORE);
  EXPECT_TRUE(SameBytes(expected.data(), seen.data(), kSlot)) << "slot of rank " << origin << SeedText();
}

CLAUSE_TEST(AGG, AGG3_barrier_completes_an_unfinished_aggregate, "AGG-3", "FENCE-4") {
  Arena arena(kSlot);
  // The ranks meet inside, so each takes as many targets as the others: itself and its neighbours.
  for (int offset = 0; offset < std::min(Np(), 3); ++offset) {
    const int target = (Me() + offset) % Np();
    const int origin = (Me() + Np() - offset) % Np();
    for (Op op : kOps) {
      arena.Refill(&MyRng(), target, &kTableType);
      MixedAggregate aggregate(&arena);
      aggregate.AddAll(op, target);
      Sync();
      // By load, with no call in between that could complete anything.
      const char* slot = arena.Slot(Me()) + (origin - Me()) * static_cast<std::ptrdiff_t>(kSlot);
      const Bytes seen(slot, slot + kSlot);
      ExpectSlotOf(origin, seen, arena.Image(target), target);
      aggregate.CheckLocal(std::string("after the barrier, before any wait: ") + NameOf(op));
      aggregate.Wait();
      aggregate.Unset();
      Agree();
    }
  }
  arena.VerifyByOwners();
}

}  // namespace
}  // namespace conformance
