// XFER: every operation in every shape and mode, at each size of the table and to each kind of target; generated.

#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kSlot = kTableExtent + 3 * kGuard;

bool CheckOne(Arena* arena, const Way& way, std::size_t bytes, int target) {
  const Plan plan = PlanOf(way, bytes);
  // Any alignment where the elements allow it.
  const std::size_t unit = way.op == Op::kAcc || way.shape == Shape::kValue ? 8 : 1;
  const std::size_t src_shift = kGuard + unit * MyRng().Below(64 / unit);
  const std::size_t dst_shift = kGuard + unit * MyRng().Below(64 / unit);
  switch (way.op) {
    case Op::kPut:
      return CheckPut(arena, plan, way.mode, target, src_shift, dst_shift);
    case Op::kGet:
      return CheckGet(arena, plan, way.mode, target, src_shift, dst_shift);
    default:
      return CheckAcc(arena, plan, way.mode, target, kTableType, src_shift, dst_shift);
  }
}

void MovesTheBytesNamed(const Way& call) {
  Arena arena(kSlot);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, call.op == Op::kAcc ? &kTableType : nullptr);
    for (const Way& way : ModesOf(call)) {
      for (std::size_t bytes : SizesOf(way)) {
        if (!CheckOne(&arena, way, bytes, target)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

// Every row is one letter, all rows overlap where they are written: each byte must be a letter of a row that covers it.
void OverlappingDestinations(Op op, Shape shape, Mode mode, int target, Arena* arena) {
  constexpr int kRows = 8;
  constexpr int kRow = 64;
  constexpr int kStep = 16;
  Bytes rows(kRows * kRow);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>('a' + i / kRow);
  std::vector<Segment> segments;
  for (int i = 0; i < kRows; ++i) segments.push_back({kRow * i, kStep * i, kRow});
  const Plan plan = shape == Shape::kStrided ? StridedPlan({kRow, kRows}, {kRow}, {kStep}) : VectorPlan({segments});
  Bytes back(kRow + kStep * (kRows - 1), '-');
  char* slot = arena->Slot(target) + kGuard;
  const int extent = static_cast<int>(back.size());
  if (op == Op::kPut) {
    EXPECT_EQ(ARMCI_Put(back.data(), slot, extent, target), 0);
    EXPECT_EQ(Move(plan, op, mode, rows.data(), slot, target), 0);
    ARMCI_Fence(target);
    EXPECT_EQ(ARMCI_Get(slot, back.data(), extent, target), 0);
  } else {
    EXPECT_EQ(ARMCI_Put(rows.data(), slot, static_cast<int>(rows.size()), target), 0);
    EXPECT_EQ(Move(plan, op, mode, slot, back.data(), target), 0);
  }
  for (int at = 0; at < extent; ++at) {
    const int row = back[static_cast<std::size_t>(at)] - 'a';
    EXPECT_TRUE(row >= 0 && row < kRows && at >= kStep * row && at < kStep * row + kRow)
        << NameOf(mode) << " " << NameOf(op) << " " << NameOf(shape) << ": byte " << at << " is " << row << SeedText();
  }
}

CLAUSE_TEST(XFER, XFER7_overlapping_destinations_in_every_mode_of_put_and_get, "XFER-7") {
  Arena arena(4096);
  for (int target : TableTargets()) {
    for (Op op : {Op::kPut, Op::kGet}) {
      for (Shape shape : {Shape::kStrided, Shape::kVector}) {
        for (Mode mode : kModes) OverlappingDestinations(op, shape, mode, target, &arena);
      }
    }
  }
}

// One vector call whose segments lie in three regions of the target by turns; each region is read back by itself.
void SeveralRegions(Op op, Mode mode, int target, const std::vector<Region*>& regions) {
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
    descriptors[i % 7 % 3].push_back(op == Op::kGet ? Segment{there, here, kBytes} : Segment{here, there, kBytes});
  }
  ARMCI_Fence(target);
  const Plan plan = VectorPlan(descriptors);
  char* here = reinterpret_cast<char*>(local.data());
  Transfer transfer(plan, op, mode);
  transfer.SetAcc(kTableType, UnitScale(kTableType));
  std::vector<double> expected = op == Op::kGet ? remote : local;
  if (op == Op::kAcc) {
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += remote[i];
  }
  EXPECT_EQ(op == Op::kGet ? transfer.Start(place(0), here, target) : transfer.Start(here, place(0), target), 0);
  EXPECT_EQ(transfer.Wait(), 0);
  ARMCI_Fence(target);
  if (op != Op::kGet) {
    for (std::size_t i = 0; i < kSegments; ++i) {
      EXPECT_EQ(ARMCI_Get(place(i), &local[kElements * i], kBytes, target), 0);
    }
  }
  EXPECT_EQ(local, expected) << NameOf(mode) << " " << NameOf(op) << " to " << target << SeedText();
}

CLAUSE_TEST(XFER, XFER6_several_regions_in_every_mode_of_every_operation, "XFER-6") {
  const std::size_t bytes = static_cast<std::size_t>(Np()) * 60 * 48;
  Region first(bytes);
  Region second(bytes);
  Region third(bytes);
  for (int target : TableTargets()) {
    for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
      for (Mode mode : kModes) SeveralRegions(op, mode, target, {&first, &second, &third});
    }
  }
}

bool RegisterTable() {
  for (const Way& call : AllCalls()) {
    TestSpec spec = MakeSpec("XFER-4", "XFER-1", ShapeClause(call.shape), DeadlineSeconds(60));
    if (call.op == Op::kAcc) spec.clauses.insert(spec.clauses.end(), {"ACC-1", "ACC-3"});
    AddTest({"XFER", "XFER4_" + NameOfCall(call) + "_in_every_mode", spec, [call] { MovesTheBytesNamed(call); },
             __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
