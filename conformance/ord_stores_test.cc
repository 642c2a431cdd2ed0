// ORD-2 to ORD-4: several targets, non-blocking stores, a process and its own operations.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kSizes[] = {8, 256, 4096, 40000};

CLAUSE_TEST(ORD, ORD2_a_fence_orders_stores_to_two_targets, "ORD-2", "FENCE-1", NeedsRanks(2)) {
  // Without the fence both orders are allowed and nothing could fail; with it the flag must not overtake the data.
  Region region(256);
  const int reader = Np() - 1;
  const int data_at = reader;
  const int flag_at = 0;
  Race race({0, reader});
  if (Me() == 0) {
    for (long round = 1; race.GoOn(); ++round) {
      EXPECT_EQ(ARMCI_Put(&round, region.At(data_at), 8, data_at), 0);
      ARMCI_Fence(data_at);
      EXPECT_EQ(ARMCI_Put(&round, region.At(flag_at, 128), 8, flag_at), 0);
    }
  } else if (Me() == reader) {
    while (race.GoOn()) {
      const long flag = ARMCI_GetValueLong(region.At(flag_at, 128), flag_at);
      const long data = ARMCI_GetValueLong(region.At(data_at), data_at);
      ASSERT_GE(data, flag) << "the flag overtook the fenced data" << SeedText();
    }
  }
}

CLAUSE_TEST(ORD, ORD2_without_a_fence_both_orders_are_accepted, "ORD-2", NeedsRanks(2)) {
  // Promises without a fence: each location by itself never goes back, and nothing is invented.
  Region region(256);
  const int reader = Np() - 1;
  long rounds = 0;
  long seen[2] = {0, 0};
  Race race({0, reader});
  if (Me() == 0) {
    while (race.GoOn()) {
      ++rounds;
      EXPECT_EQ(ARMCI_Put(&rounds, region.At(reader), 8, reader), 0);
      EXPECT_EQ(ARMCI_Put(&rounds, region.At(0, 128), 8, 0), 0);
    }
  } else if (Me() == reader) {
    while (race.GoOn()) {
      const long now[2] = {ARMCI_GetValueLong(region.At(reader), reader), ARMCI_GetValueLong(region.At(0, 128), 0)};
      for (int i = 0; i < 2; ++i) {
        ASSERT_GE(now[i], seen[i]) << "target " << i << " went back" << SeedText();
        seen[i] = now[i];
      }
    }
  }
  Sync();
  rounds = FromRank(0, rounds);
  for (long value : seen) EXPECT_LE(value, rounds) << "a value that was never written";
  EXPECT_EQ(ARMCI_GetValueLong(region.At(reader), reader), rounds);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0, 128), 0), rounds);
}

CLAUSE_TEST(ORD, ORD3_nonblocking_stores_end_as_one_of_the_values_until_a_fence, "ORD-3", "FENCE-1") {
  constexpr int kElements = 600;
  Region region(static_cast<std::size_t>(Np()) * kElements * 8);
  for (int target = 0; target < Np(); ++target) {
    char* slot = region.At(target, static_cast<std::size_t>(Me()) * kElements * 8);
    for (long round = 0; round < Scaled(200, 40); ++round) {
      std::vector<std::vector<long>> sources;
      for (long k = 1; k <= 4; ++k) sources.emplace_back(kElements, 10 * round + k);
      for (auto& source : sources) {
        EXPECT_EQ(ARMCI_NbPut(source.data(), slot, kElements * 8, target, nullptr), 0);
      }
      EXPECT_EQ(ARMCI_WaitProc(target), 0);
      ARMCI_Fence(target);
      std::vector<long> back(kElements);
      EXPECT_EQ(ARMCI_Get(slot, back.data(), kElements * 8, target), 0);
      // Each element holds one of the four, any of them.
      for (long value : back) ASSERT_TRUE(value > 10 * round && value <= 10 * round + 4) << value << SeedText();
      // After the fence order is back.
      std::vector<long> last(kElements, 10 * round + 9);
      EXPECT_EQ(ARMCI_Put(last.data(), slot, kElements * 8, target), 0);
      EXPECT_EQ(ARMCI_Get(slot, back.data(), kElements * 8, target), 0);
      ASSERT_EQ(back, last) << "a store from before the fence came after it";
    }
  }
}

// Puts, accumulates, gets and RMWs on the origin's own slot in random order; the model knows every answer.
void OwnOperations(int target, Arena* arena, int steps) {
  const AccType& type = kAccTypes[1];
  // A non-blocking store is seen by the origin's gets and RMWs once its wait returned, but is unordered with its other
  // stores, earlier and later ones: those need a fence in between.
  bool stored = false;
  bool unordered = false;
  const auto before_store = [&](Mode mode) {
    if (unordered || (stored && mode != Mode::kBlocking)) ARMCI_Fence(target);
    stored = true;
    unordered = mode != Mode::kBlocking;
  };
  for (int step = 0; step < steps; ++step) {
    const Shape shape = kShapes[MyRng().Below(3)];
    const Mode mode = kModes[MyRng().Below(4)];
    const Plan plan = PlanOfSize(shape, kSizes[MyRng().Below(4)], 8);
    Bytes local(static_cast<std::size_t>(std::max(plan.SrcEnd(), plan.DstEnd())));
    char* slot = arena->Slot(target) + kGuard;
    char* image = arena->Image(target) + kGuard;
    const std::string text = std::string(NameOf(mode)) + " " + plan.Text() + ", step " + std::to_string(step);
    switch (MyRng().Below(4)) {
      case 0: {
        FillElements(&MyRng(), type, local.data(), local.size());
        ModelCopy(plan, local.data(), image);
        before_store(mode);
        ASSERT_EQ(Move(plan, Op::kPut, mode, local.data(), slot, target), 0) << text;
        break;
      }
      case 1: {
        FillElements(&MyRng(), type, local.data(), local.size());
        ModelAcc(plan, type, UnitScale(type).bytes, local.data(), image);
        Transfer transfer(plan, Op::kAcc, mode);
        transfer.SetAcc(type, UnitScale(type));
        before_store(mode);
        ASSERT_EQ(transfer.Start(local.data(), slot, target), 0) << text;
        ASSERT_EQ(transfer.Wait(), 0) << text;
        break;
      }
      case 2: {
        Bytes expected = local;
        ModelCopy(plan, image, expected.data());
        ASSERT_EQ(Move(plan, Op::kGet, mode, slot, local.data(), target), 0) << text;
        ASSERT_TRUE(SameBytes(expected.data(), local.data(), local.size())) << "get: " << text << SeedText();
        break;
      }
      default: {
        const std::ptrdiff_t at = plan.segments.back().dst;
        long expected = 0;
        std::memcpy(&expected, image + at, 8);
        long seen = 0;
        ASSERT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen, slot + at, 17, target), 0);
        ASSERT_EQ(seen, expected) << "RMW, step " << step << SeedText();
        expected += 17;
        std::memcpy(image + at, &expected, 8);
      }
    }
  }
}

CLAUSE_TEST(ORD, ORD4_a_process_sees_its_own_operations_in_order, "ORD-4", "RMW-5", DeadlineSeconds(60)) {
  Arena arena(128 << 10);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target, &kAccTypes[1]);
    OwnOperations(target, &arena, Scaled(6000, 400));
    if (::testing::Test::HasFailure()) return;
    arena.Verify(target, "the whole program");
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(ORD, ORD4_a_second_get_is_not_older_than_the_first, "ORD-4", NeedsRanks(2)) {
  Region region(512);
  const int target = Np() - 1;
  std::vector<long> value(64);
  std::vector<long> last(64, 0);
  Race race(AllRanks());
  for (long round = 1; race.GoOn(); ++round) {
    if (Me() == 0) {
      std::fill(value.begin(), value.end(), round);
      EXPECT_EQ(ARMCI_Put(value.data(), region.At(target), 512, target), 0);
    } else {
      EXPECT_EQ(ARMCI_Get(region.At(target), value.data(), 512, target), 0);
      for (std::size_t i = 0; i < value.size(); ++i) ASSERT_GE(value[i], last[i]) << "element " << i << SeedText();
      last = value;
    }
  }
}

}  // namespace
}  // namespace conformance
