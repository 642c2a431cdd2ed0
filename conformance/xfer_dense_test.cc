// XFER, CMPL: long shapes that have no gaps on one side, which a library may move without a copy.

#include <algorithm>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr int kRow = 1008;
constexpr int kApart = 1200;
constexpr int kRowsMax = 700;
// On both sides of what is moved in one piece.
constexpr int kRowCounts[] = {45, kRowsMax};

Plan Rows(Shape shape, int rows, int src_stride, int dst_stride) {
  if (shape == Shape::kStrided) return StridedPlan({kRow, rows}, {src_stride}, {dst_stride});
  std::vector<Segment> segments;
  for (int row = 0; row < rows; ++row) {
    segments.push_back({std::ptrdiff_t{row} * src_stride, std::ptrdiff_t{row} * dst_stride, kRow});
  }
  return VectorPlan({segments});
}

CLAUSE_TEST(XFER, XFER5_long_shapes_without_gaps_on_one_side, "XFER-5", "XFER-6", "ACC-1", DeadlineSeconds(120)) {
  Arena arena(std::size_t{kApart} * kRowsMax + 4 * kGuard);
  const AccType& type = kTableType;
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &type);
    for (int rows : kRowCounts) {
      for (Shape shape : {Shape::kStrided, Shape::kVector}) {
        for (Mode mode : kModes) {
          const Plan from_dense = Rows(shape, rows, kRow, kApart);
          const Plan to_dense = Rows(shape, rows, kApart, kRow);
          CheckAcc(&arena, from_dense, mode, target, type, kGuard, kGuard);
          CheckPut(&arena, from_dense, mode, target, kGuard, kGuard);
          CheckPut(&arena, to_dense, mode, target, kGuard, kGuard);
          CheckGet(&arena, from_dense, mode, target, kGuard, kGuard);
          CheckGet(&arena, to_dense, mode, target, kGuard, kGuard);
          arena.Refill(&MyRng(), target, &type);
        }
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(CMPL, CMPL3_a_source_without_gaps_is_free_when_the_wait_returns, "CMPL-3", "CMPL-1", DeadlineSeconds(60)) {
  constexpr std::size_t kBytes = std::size_t{kRow} * kRowsMax;
  Arena arena(std::size_t{kApart} * kRowsMax);
  Bytes out(kBytes);
  Bytes sent(kBytes);
  Bytes back(kBytes);
  for (int target : TableTargets()) {
    for (Shape shape : {Shape::kStrided, Shape::kVector}) {
      for (Mode mode : {Mode::kBlocking, Mode::kNonblocking, Mode::kImplicit, Mode::kAggregate}) {
        MyRng().Fill(sent.data(), kBytes);
        out = sent;
        EXPECT_EQ(Move(Rows(shape, kRowsMax, kRow, kApart), Op::kPut, mode, out.data(), arena.Slot(target), target), 0);
        // Move() has waited.
        std::fill(out.begin(), out.end(), '!');
        ARMCI_Fence(target);
        EXPECT_EQ(Move(Rows(shape, kRowsMax, kApart, kRow), Op::kGet, mode, arena.Slot(target), back.data(), target),
                  0);
        EXPECT_TRUE(SameBytes(sent.data(), back.data(), kBytes)) << NameOf(shape) << ", " << NameOf(mode);
      }
    }
  }
}

}  // namespace
}  // namespace conformance
