// AGG: aggregate handles.

#include <memory>
#include <vector>

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

// Puts of all shapes, each into its own window of the slot, through one aggregate handle.
struct MixedAggregate {
  MixedAggregate(Arena* arena, int target, int pieces) : source(kSlot) {
    constexpr std::size_t kWindow = 8192;
    MyRng().Fill(source.data(), source.size());
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    constexpr Shape kAll[] = {Shape::kContiguous, Shape::kStrided, Shape::kVector, Shape::kValue};
    for (int i = 0; i < pieces; ++i) {
      const std::size_t at = kGuard + static_cast<std::size_t>(i) * kWindow;
      plans.push_back(std::make_unique<Plan>(RandomPlan(&MyRng(), kAll[i % 4], kWindow - 64, 8)));
      transfers.push_back(std::make_unique<Transfer>(*plans.back(), Op::kPut, Mode::kNonblocking));
      ModelCopy(*plans.back(), source.data() + at, arena->Image(target) + at);
      EXPECT_EQ(transfers.back()->StartOn(&handle, source.data() + at, arena->Slot(target) + at, target), 0)
          << plans.back()->Text();
    }
  }

  armci_hdl_t handle;
  Bytes source;
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<std::unique_ptr<Transfer>> transfers;
};

CLAUSE_TEST(AGG, AGG2_shapes_mix_in_one_handle, "AGG-2", "AGG-1", DeadlineSeconds(60)) {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    for (int round = 0; round < Scaled(10, 3); ++round) {
      arena.Refill(&MyRng(), target);
      MixedAggregate aggregate(&arena, target, 100);
      EXPECT_EQ(ARMCI_Wait(&aggregate.handle), 0);
      std::fill(aggregate.source.begin(), aggregate.source.end(), 'X');
      ARMCI_UNSET_AGGREGATE_HANDLE(&aggregate.handle);
      if (!arena.Verify(target, "mixed aggregate")) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG3_unset_returns_the_handle_to_normal_use, "AGG-3") {
  Arena arena(4096);
  const int target = (Me() + 1) % Np();
  arena.Refill(&MyRng(), target);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  for (int round = 0; round < 10; ++round) {
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    long value = round;
    std::memcpy(arena.Image(target) + kGuard, &value, 8);
    EXPECT_EQ(ARMCI_NbPut(&value, arena.Slot(target) + kGuard, 8, target, &handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    // Now as an ordinary handle: a put, and later a get.
    long other = 1000 + round;
    std::memcpy(arena.Image(target) + kGuard + 64, &other, 8);
    EXPECT_EQ(ARMCI_NbPut(&other, arena.Slot(target) + kGuard + 64, 8, target, &handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    ARMCI_Fence(target);
    long back = -1;
    EXPECT_EQ(ARMCI_NbGet(arena.Slot(target) + kGuard + 64, &back, 8, target, &handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    EXPECT_EQ(back, other);
    if (!arena.Verify(target, "aggregate, then normal")) return;
  }
}

CLAUSE_TEST(AGG, AGG3_unset_before_the_wait_keeps_what_was_gathered, "AGG-3") {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    MixedAggregate aggregate(&arena, target, 100);
    ARMCI_UNSET_AGGREGATE_HANDLE(&aggregate.handle);
    EXPECT_EQ(ARMCI_Wait(&aggregate.handle), 0);
    std::fill(aggregate.source.begin(), aggregate.source.end(), 'X');
    if (!arena.Verify(target, "unset, then wait")) return;
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG3_fence_completes_an_unfinished_aggregate, "AGG-3", "FENCE-1") {
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    MixedAggregate aggregate(&arena, target, 100);
    ARMCI_Fence(target);
    Bytes back(kSlot);
    EXPECT_EQ(ARMCI_Get(arena.Slot(target), back.data(), static_cast<int>(kSlot), target), 0);
    EXPECT_TRUE(SameBytes(arena.Image(target), back.data(), kSlot)) << "after the fence, before any wait";
    EXPECT_EQ(ARMCI_Wait(&aggregate.handle), 0);
    ARMCI_UNSET_AGGREGATE_HANDLE(&aggregate.handle);
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(AGG, AGG3_barrier_completes_an_unfinished_aggregate, "AGG-3", "FENCE-4") {
  Arena arena(kSlot);
  const int target = (Me() + 1) % Np();
  for (int round = 0; round < 5; ++round) {
    arena.Refill(&MyRng(), target);
    MixedAggregate aggregate(&arena, target, 100);
    arena.VerifyByOwners();
    EXPECT_EQ(ARMCI_Wait(&aggregate.handle), 0);
    ARMCI_UNSET_AGGREGATE_HANDLE(&aggregate.handle);
    Agree();
  }
}

}  // namespace
}  // namespace conformance
