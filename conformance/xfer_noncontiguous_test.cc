// XFER: strided and vector transfers against the serial loop nest.

#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kExtent = 16384;

// Random plans of one shape in every mode and to every target.
void RandomCopies(Shape shape, int cases) {
  Arena arena(kExtent + 4 * kGuard);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (int i = 0; i < cases; ++i) {
      const std::size_t unit = std::size_t{1} << MyRng().Below(4);
      const Plan plan = RandomPlan(&MyRng(), shape, kExtent, unit);
      const Mode mode = kModes[MyRng().Below(4)];
      const std::size_t src_shift = kGuard + MyRng().Below(64);
      const std::size_t dst_shift = kGuard + MyRng().Below(64);
      if (!CheckPut(&arena, plan, mode, target, src_shift, dst_shift)) return;
      if (!CheckGet(&arena, plan, mode, target, src_shift, dst_shift)) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER5_random_strided_shapes, "XFER-5", "XFER-1", "XFER-4", DeadlineSeconds(60)) {
  RandomCopies(Shape::kStrided, Scaled(3000, 200));
}

CLAUSE_TEST(XFER, XFER6_random_vectors, "XFER-6", "XFER-1", "XFER-4", DeadlineSeconds(60)) {
  RandomCopies(Shape::kVector, Scaled(3000, 200));
}

CLAUSE_TEST(XFER, XFER5_every_number_of_levels, "XFER-5") {
  Arena arena(kExtent + 4 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (int levels = 0; levels <= ARMCI_MAX_STRIDE_LEVEL; ++levels) {
      // Two or three of everything; the source is dense, the destination has holes at every level, and vice versa.
      std::vector<int> count{3};
      std::vector<int> dense;
      std::vector<int> holes;
      int dense_span = 3;
      int hole_span = 3;
      for (int level = 0; level < levels; ++level) {
        const int n = level < 3 ? 3 : 2;
        count.push_back(n);
        dense.push_back(dense_span);
        holes.push_back(hole_span + 1);
        dense_span *= n;
        hole_span += (hole_span + 1) * (n - 1);
      }
      for (Mode mode : kModes) {
        CheckPut(&arena, StridedPlan(count, dense, holes), mode, target, kGuard, kGuard);
        CheckPut(&arena, StridedPlan(count, holes, dense), mode, target, kGuard, kGuard);
        CheckGet(&arena, StridedPlan(count, dense, holes), mode, target, kGuard, kGuard);
        CheckGet(&arena, StridedPlan(count, holes, holes), mode, target, kGuard, kGuard);
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER5_shapes_that_collapse_and_shapes_that_do_not, "XFER-5") {
  Arena arena(kExtent + 4 * kGuard);
  struct Case {
    std::vector<int> count, src, dst;
  };
  const std::vector<Case> cases{
      {{64, 16}, {64}, {64}},  // one block on both sides
      {{64, 16}, {64}, {65}},  // one block on one side only
      {{64, 16}, {72}, {64}},
      {{64, 1}, {1}, {1}},  // a count of one: its stride is never used
      {{64, 1}, {-7}, {0}},
      {{8, 4, 4}, {8, 32}, {8, 48}},    // the inner two levels are one block
      {{8, 4, 4}, {16, 64}, {16, 64}},  // the outer two are one level
      {{1, 1, 1, 1, 5}, {3, 3, 3, 7}, {9, 9, 9, 2}},
      {{4, 3, 2}, {1000, 100}, {100, 1000}},  // the outer stride smaller than the inner one
      {{16, 3, 5}, {400, 20}, {20, 100}},
  };
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (const Case& one : cases) {
      const Plan plan = StridedPlan(one.count, one.src, one.dst);
      for (Mode mode : kModes) {
        CheckPut(&arena, plan, mode, target, kGuard + 16, kGuard + 16);
        CheckGet(&arena, plan, mode, target, kGuard + 16, kGuard + 16);
      }
    }
  }
}

CLAUSE_TEST(XFER, XFER5_the_side_that_is_read_may_overlap_itself, "XFER-5") {
  Arena arena(kExtent);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    // The source stride is zero (a broadcast row), smaller than a row, or negative; the destination is disjoint.
    for (int stride : {0, 1, 7, -1, -40, -200}) {
      const Plan plan = StridedPlan({40, 9}, {stride}, {48});
      for (Mode mode : kModes) {
        CheckPut(&arena, plan, mode, target, kGuard + 2000, kGuard);
        CheckGet(&arena, plan, mode, target, kGuard + 2000, kGuard);
      }
    }
    // Null strides at level 0 are legal.
    const char text[] = "level zero";
    int count[] = {sizeof text};
    char back[sizeof text] = "";
    EXPECT_EQ(ARMCI_PutS(const_cast<char*>(text), nullptr, arena.Slot(target), nullptr, count, 0, target), 0);
    EXPECT_EQ(ARMCI_GetS(arena.Slot(target), nullptr, back, nullptr, count, 0, target), 0);
    EXPECT_STREQ(back, text);
  }
}

CLAUSE_TEST(XFER, XFER5_reversed_rows_by_negative_strides, "XFER-5") {
  Arena arena(kExtent);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    const Plan reversed_destination = StridedPlan({24, 7}, {24}, {-32});
    const Plan reversed_source = StridedPlan({24, 7}, {-32}, {24});
    for (Mode mode : kModes) {
      CheckPut(&arena, reversed_destination, mode, target, kGuard, kGuard + 1024);
      CheckPut(&arena, reversed_source, mode, target, kGuard + 1024, kGuard);
      CheckGet(&arena, reversed_destination, mode, target, kGuard, kGuard + 1024);
      CheckGet(&arena, reversed_source, mode, target, kGuard + 1024, kGuard);
    }
  }
}

CLAUSE_TEST(XFER, XFER6_segments_of_one_call_in_several_regions, "XFER-6") {
  const std::size_t bytes = 512 * static_cast<std::size_t>(Np());
  Region first(bytes);
  Region second(bytes);
  Region third(bytes);
  for (int target : TableTargets()) {
    const std::size_t slot = static_cast<std::size_t>(Me()) * 512;
    Bytes out(300);
    MyRng().Fill(out.data(), out.size());
    std::vector<void*> src;
    std::vector<void*> dst;
    for (int i = 0; i < 30; ++i) {
      Region& region = i % 3 == 0 ? first : i % 3 == 1 ? second : third;
      src.push_back(out.data() + 10 * i);
      dst.push_back(region.At(target, slot + 16 * static_cast<std::size_t>(i)));
    }
    armci_giov_t giov[] = {Descriptor(src.data(), dst.data(), 10, 7),
                           Descriptor(src.data() + 7, dst.data() + 7, 10, 23)};
    EXPECT_EQ(ARMCI_PutV(giov, 2, target), 0);
    Bytes back(300, 0);
    std::vector<void*> to;
    for (int i = 0; i < 30; ++i) to.push_back(back.data() + 10 * i);
    armci_giov_t reverse[] = {Descriptor(dst.data(), to.data(), 10, 30)};
    EXPECT_EQ(ARMCI_GetV(reverse, 1, target), 0);
    EXPECT_TRUE(SameBytes(out.data(), back.data(), 300));
    const int one = 10;
    char piece[10];
    EXPECT_EQ(ARMCI_Get(second.At(target, slot + 16), piece, one, target), 0);
    EXPECT_TRUE(SameBytes(out.data() + 10, piece, 10)) << "segment 1 belongs into the second region";
  }
}

CLAUSE_TEST(XFER, XFER6_many_segments_and_many_descriptors, "XFER-6") {
  constexpr int kSegments = 20000;
  Region region(static_cast<std::size_t>(Np()) * kSegments * 8);
  for (int target : TableTargets()) {
    const std::size_t slot = static_cast<std::size_t>(Me()) * kSegments * 8;
    std::vector<std::vector<Segment>> descriptors(500);
    for (int i = 0; i < kSegments; ++i) {
      const std::ptrdiff_t at = 8 * i;
      // Destinations run backwards.
      descriptors[static_cast<std::size_t>(i / 40)].push_back({at, 8 * (kSegments - 1) - at, 8});
    }
    const Plan plan = VectorPlan(descriptors);
    Bytes out(kSegments * 8);
    MyRng().Fill(out.data(), out.size());
    Bytes expected(kSegments * 8, 0);
    ModelCopy(plan, out.data(), expected.data());
    Bytes back(kSegments * 8, 0);
    EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, out.data(), region.At(target, slot), target), 0);
    EXPECT_EQ(ARMCI_Get(region.At(target, slot), back.data(), kSegments * 8, target), 0);
    EXPECT_TRUE(SameBytes(expected.data(), back.data(), back.size()));
  }
}

CLAUSE_TEST(XFER, XFER7_overlapping_destinations_of_one_put, "XFER-7") {
  Arena arena(4096);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    // Every row is one letter, all rows overlap: each byte must be a letter of a row that covers it.
    Bytes rows(8 * 64);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>('a' + i / 64);
    for (Shape shape : {Shape::kStrided, Shape::kVector}) {
      std::vector<Segment> segments;
      for (int i = 0; i < 8; ++i) segments.push_back({64 * i, 16 * i, 64});
      const Plan plan = shape == Shape::kStrided ? StridedPlan({64, 8}, {64}, {16}) : VectorPlan({segments});
      EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, rows.data(), arena.Slot(target) + kGuard, target), 0);
      Bytes back(64 + 16 * 7);
      EXPECT_EQ(ARMCI_Get(arena.Slot(target) + kGuard, back.data(), static_cast<int>(back.size()), target), 0);
      for (int at = 0; at < static_cast<int>(back.size()); ++at) {
        const int row = back[static_cast<std::size_t>(at)] - 'a';
        EXPECT_TRUE(row >= 0 && row < 8 && at >= 16 * row && at < 16 * row + 64)
            << NameOf(shape) << ": byte " << at << " is " << row;
      }
      std::copy(back.begin(), back.end(), arena.Image(target) + kGuard);
    }
    arena.Verify(target, "guard bands of an overlapping put");
  }
}

CLAUSE_TEST(XFER, XFER7_overlapping_accumulates_add_all, "XFER-7", "ACC-3") {
  for (const AccType& type : kAccTypes) {
    Arena arena(4096);
    const int step = static_cast<int>(type.bytes);
    const std::vector<Segment> same(5, Segment{0, 0, 3 * type.bytes});
    for (int target : TableTargets()) {
      for (Mode mode : kModes) {
        // Fresh values: sums of many products would leave the range in which floats are exact.
        arena.Refill(&MyRng(), target, &type);
        CheckAcc(&arena, StridedPlan({8 * step, 6}, {step}, {2 * step}), mode, target, type, kGuard, kGuard);
        CheckAcc(&arena, StridedPlan({8 * step, 6}, {0}, {0}), mode, target, type, kGuard, kGuard);
        CheckAcc(&arena, VectorPlan({same, same}), mode, target, type, kGuard, kGuard);
      }
    }
  }
}

}  // namespace
}  // namespace conformance
