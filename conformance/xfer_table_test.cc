// XFER: every operation in every shape and mode, at each size of the table and to each kind of target; nothing at
// all, too. Generated.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

bool CheckOne(Arena* arena, const Way& way, std::size_t bytes, int target) {
  const Plan plan = PlanOf(way, bytes);
  // Any alignment where the elements allow it.
  const std::size_t unit = way.op == Op::kAcc || way.shape == Shape::kValue ? 8 : 1;
  const std::size_t src_shift = kGuard + unit * MyRng().Below(64 / unit);
  const std::size_t dst_shift = kGuard + unit * MyRng().Below(64 / unit);
  switch (way.op) {
    case Op::kPut:
      return CheckPut(arena, plan, way.mode, target, src_shift, dst_shift, way.width);
    case Op::kGet:
      return CheckGet(arena, plan, way.mode, target, src_shift, dst_shift);
    default:
      return CheckAcc(arena, plan, way.mode, target, kTableType, src_shift, dst_shift, way.width);
  }
}

void MovesTheBytesNamed(const Way& call, std::size_t size) {
  Arena arena(ExtentOf(size) + 3 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, call.op == Op::kAcc ? &kTableType : nullptr);
    for (const Way& way : ModesOf(call)) {
      for (std::size_t bytes : SizesOf(way, size)) {
        if (!CheckOne(&arena, way, bytes, target)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

// Nothing, as every shape can say it.
std::vector<Plan> EmptyPlans(Shape shape) {
  switch (shape) {
    case Shape::kContiguous:
      return {ContiguousPlan(0)};
    case Shape::kStrided:
      return {StridedPlan({0}, {}, {}), StridedPlan({0, 3}, {8}, {8}), StridedPlan({8, 0}, {8}, {16}),
              StridedPlan({8, 0, 2}, {8, 64}, {16, 64}), StridedPlan({8, 2, 0}, {8, 64}, {16, 64})};
    case Shape::kVector:
      // No descriptor, descriptors without segments, and segments without bytes.
      return {VectorPlan({}), VectorPlan({{}, {}}), VectorPlan({{{0, 0, 0}, {0, 0, 0}}})};
    default:
      return {};
  }
}

// Addresses are not looked at: none, one in no region, and a good one.
void MovesNothing(const Way& call) {
  Arena arena(1024);
  char* const nowhere = reinterpret_cast<char*>(std::uintptr_t{64});
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &kTableType);
    for (const Way& way : ModesOf(call)) {
      for (const Plan& plan : EmptyPlans(way.shape)) {
        Bytes local(64, 'l');
        const std::string text = NameOf(way) + " to " + std::to_string(target) + ": " + plan.Text();
        for (char* remote : {static_cast<char*>(nullptr), nowhere, arena.Slot(target)}) {
          for (char* mine : {static_cast<char*>(nullptr), local.data()}) {
            Transfer transfer(plan, way.op, way.mode, way.width);
            transfer.SetAcc(kTableType, UnitScale(kTableType));
            const bool get = way.op == Op::kGet;
            EXPECT_EQ(transfer.Start(get ? remote : mine, get ? mine : remote, target), 0) << text;
            EXPECT_EQ(transfer.Wait(), 0) << text;
          }
        }
        EXPECT_EQ(local, Bytes(64, 'l')) << text;
        if (!arena.Verify(target, text)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

// Every row is one letter, all rows overlap where they are written: each byte must be a letter of a row that covers it.
void OverlappingDestinations(const Way& way, int target, Arena* arena) {
  constexpr int kRows = 8;
  constexpr int kRow = 64;
  constexpr int kStep = 16;
  Bytes rows(kRows * kRow);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>('a' + i / kRow);
  std::vector<Segment> segments;
  for (int i = 0; i < kRows; ++i) segments.push_back({kRow * i, kStep * i, kRow});
  const Plan plan = way.shape == Shape::kStrided ? StridedPlan({kRow, kRows}, {kRow}, {kStep}) : VectorPlan({segments});
  Bytes back(kRow + kStep * (kRows - 1), '-');
  char* slot = arena->Slot(target) + kGuard;
  const int extent = static_cast<int>(back.size());
  if (way.op == Op::kPut) {
    EXPECT_EQ(ARMCI_Put(back.data(), slot, extent, target), 0);
    ARMCI_Fence(target);
    EXPECT_EQ(Move(plan, way.op, way.mode, rows.data(), slot, target, way.width), 0);
    ARMCI_Fence(target);
    EXPECT_EQ(ARMCI_Get(slot, back.data(), extent, target), 0);
  } else {
    EXPECT_EQ(ARMCI_Put(rows.data(), slot, static_cast<int>(rows.size()), target), 0);
    EXPECT_EQ(Move(plan, way.op, way.mode, slot, back.data(), target, way.width), 0);
  }
  for (int at = 0; at < extent; ++at) {
    const int row = back[static_cast<std::size_t>(at)] - 'a';
    EXPECT_TRUE(row >= 0 && row < kRows && at >= kStep * row && at < kStep * row + kRow)
        << NameOf(way) << ": byte " << at << " is " << row << SeedText();
  }
}

void OverlappingDestinationsInEveryMode(Width width) {
  Arena arena(4096);
  for (int target : TableTargets()) {
    for (const Way& way : AllWays()) {
      const bool rows = way.shape == Shape::kStrided || way.shape == Shape::kVector;
      if (rows && way.op != Op::kAcc && way.width == width) OverlappingDestinations(way, target, &arena);
    }
  }
}

// One vector call whose segments lie in three regions of the target by turns; each region is read back by itself.
void SeveralRegions(const Way& way, int target, const std::vector<Region*>& regions) {
  constexpr std::size_t kSegments = 60;
  constexpr std::size_t kElements = 6;
  constexpr std::size_t kBytes = 8 * kElements;
  const std::size_t slot = static_cast<std::size_t>(Me()) * kSegments * kBytes;
  const auto place = [&](std::size_t i) { return regions[i % regions.size()]->At(target, slot + kBytes * i); };
  std::vector<double> remote(kSegments * kElements);
  std::vector<double> local(remote.size());
  std::vector<std::vector<Segment>> descriptors(3);
  for (std::size_t i = 0; i < remote.size(); ++i) {
    remote[i] = static_cast<double>(MyRng().Below(1000));
    local[i] = static_cast<double>(MyRng().Below(1000));
  }
  // The offsets of the remote side count from the first region.
  for (std::size_t i = 0; i < kSegments; ++i) {
    EXPECT_EQ(ARMCI_Put(&remote[kElements * i], place(i), kBytes, target), 0);
    const std::ptrdiff_t there = place(i) - place(0);
    const std::ptrdiff_t here = static_cast<std::ptrdiff_t>(kBytes * i);
    descriptors[i % 7 % 3].push_back(way.op == Op::kGet ? Segment{there, here, kBytes} : Segment{here, there, kBytes});
  }
  ARMCI_Fence(target);
  const Plan plan = VectorPlan(descriptors);
  char* here = reinterpret_cast<char*>(local.data());
  Transfer transfer(plan, way.op, way.mode, way.width);
  transfer.SetAcc(kTableType, UnitScale(kTableType));
  std::vector<double> expected = way.op == Op::kGet ? remote : local;
  if (way.op == Op::kAcc) {
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += remote[i];
  }
  EXPECT_EQ(way.op == Op::kGet ? transfer.Start(place(0), here, target) : transfer.Start(here, place(0), target), 0);
  EXPECT_EQ(transfer.Wait(), 0);
  ARMCI_Fence(target);
  if (way.op != Op::kGet) {
    for (std::size_t i = 0; i < kSegments; ++i) {
      EXPECT_EQ(ARMCI_Get(place(i), &local[kElements * i], kBytes, target), 0);
    }
  }
  EXPECT_EQ(local, expected) << NameOf(way) << " to " << target << SeedText();
}

void SeveralRegionsInEveryMode(Width width) {
  const std::size_t bytes = static_cast<std::size_t>(Np()) * 60 * 48;
  Region first(bytes);
  Region second(bytes);
  Region third(bytes);
  for (int target : TableTargets()) {
    for (const Way& way : AllWays()) {
      if (way.shape == Shape::kVector && way.width == width) SeveralRegions(way, target, {&first, &second, &third});
    }
  }
}

void AddCases(const Way& call) {
  TestSpec spec = MakeSpec("XFER-4", "XFER-1", "XFER-2", ShapeClause(call.shape), DeadlineSeconds(60));
  if (call.op == Op::kAcc) spec.clauses.insert(spec.clauses.end(), {"ACC-1", "ACC-3"});
  const auto body = [call] {
    for (std::size_t size : TableSizes()) MovesTheBytesNamed(call, size);
  };
  AddTableTest(call.width, {"XFER", "XFER4_" + NameOfCall(call) + "_in_every_mode", spec, body, __FILE__, __LINE__});
  if (call.shape == Shape::kValue) return;
  AddTableTest(call.width, {"XFER", "XFER3_" + NameOfCall(call) + "_of_nothing", MakeSpec("XFER-3"),
                            [call] { MovesNothing(call); }, __FILE__, __LINE__});
}

bool RegisterTable() {
  for (const Way& call : AllCalls()) AddCases(call);
  for (Width width : AllWidths()) {
    AddTableTest(width, {"XFER", "XFER6_several_regions_in_every_mode_of_every_operation", MakeSpec("XFER-6"),
                         [width] { SeveralRegionsInEveryMode(width); }, __FILE__, __LINE__});
    AddTableTest(width, {"XFER", "XFER7_overlapping_destinations_in_every_mode_of_put_and_get", MakeSpec("XFER-7"),
                         [width] { OverlappingDestinationsInEveryMode(width); }, __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
