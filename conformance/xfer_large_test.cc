// XFER-8: totals beyond 2 GiB and 2^31 elements, without as much memory: rows overlap.

#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// 33,000 rows of 64 KiB, each 64 bytes after the one before it: 2.16 GB in all, over 2.2 MB of memory. Overlapping
// bytes are equal on both sides of the copy, so the result is that of one plain copy, in any order.
constexpr int kRowBytes = 65536;
constexpr int kRows = 33000;
constexpr int kStep = 64;
constexpr std::size_t kSpan = static_cast<std::size_t>(kRows - 1) * kStep + kRowBytes;

CLAUSE_TEST(XFER, XFER8_strided_put_of_more_than_2_GiB, "XFER-8", "XFER-7", DeadlineSeconds(120)) {
  // One origin at a time is enough and keeps the memory bus free.
  Region region(Me() == Np() - 1 ? kSpan : 8);
  if (Me() == 0) {
    Bytes out(kSpan);
    MyRng().Fill(out.data(), out.size());
    const Plan plan = StridedPlan({kRowBytes, kRows}, {kStep}, {kStep});
    EXPECT_GT(plan.TotalBytes(), std::size_t{1} << 31);
    EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, out.data(), region.At(Np() - 1), Np() - 1), 0);
    Bytes back(kSpan);
    EXPECT_EQ(ARMCI_Get(region.At(Np() - 1), back.data(), static_cast<int>(kSpan), Np() - 1), 0);
    EXPECT_TRUE(SameBytes(out.data(), back.data(), kSpan));
  }
}

CLAUSE_TEST(XFER, XFER8_vector_put_of_more_than_2_GiB, "XFER-8", DeadlineSeconds(120)) {
  Region region(Me() == Np() - 1 ? kSpan : 8);
  if (Me() == 0) {
    Bytes out(kSpan);
    MyRng().Fill(out.data(), out.size());
    std::vector<Segment> segments;
    for (int row = 0; row < kRows; ++row) segments.push_back({row * kStep, row * kStep, kRowBytes});
    EXPECT_EQ(Move(VectorPlan({segments}), Op::kPut, Mode::kBlocking, out.data(), region.At(Np() - 1), Np() - 1), 0);
    Bytes back(kSpan);
    EXPECT_EQ(ARMCI_Get(region.At(Np() - 1), back.data(), static_cast<int>(kSpan), Np() - 1), 0);
    EXPECT_TRUE(SameBytes(out.data(), back.data(), kSpan));
  }
}

CLAUSE_TEST(XFER, XFER8_strided_accumulate_of_more_than_2_GiB, "XFER-8", "XFER-7", "ACC-3", DeadlineSeconds(120)) {
  // The destination stride is zero: every row is added to the same elements, so a row left out changes the sum.
  constexpr int kElements = 131072;
  constexpr int kRepeats = 2100;
  constexpr int kBytes = kElements * 8;
  Region region(Me() == Np() - 1 ? kBytes : 8);
  if (Me() == 0) {
    std::vector<long> out(kElements);
    for (int i = 0; i < kElements; ++i) out[static_cast<std::size_t>(i)] = i + 1;
    int zero[] = {0};
    int count[] = {kBytes, Scaled(kRepeats, 2049)};
    long scale = 3;
    const int target = Np() - 1;
    EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_LNG, &scale, out.data(), zero, region.At(target), zero, count, 1, target), 0);
    std::vector<long> back(kElements);
    EXPECT_EQ(ARMCI_Get(region.At(target), back.data(), kBytes, target), 0);
    for (int i = 0; i < kElements; ++i) {
      ASSERT_EQ(back[static_cast<std::size_t>(i)], 3L * count[1] * (i + 1)) << "element " << i;
    }
  }
}

CLAUSE_TEST(XFER, XFER8_strided_get_of_more_than_2_GiB, "XFER-8", "XFER-7", DeadlineSeconds(120)) {
  Region region(Me() == Np() - 1 ? kSpan : 8);
  if (Me() == 0) {
    Bytes out(kSpan);
    MyRng().Fill(out.data(), out.size());
    const int target = Np() - 1;
    EXPECT_EQ(ARMCI_Put(out.data(), region.At(target), static_cast<int>(kSpan), target), 0);
    Bytes back(kSpan, 0);
    const Plan plan = StridedPlan({kRowBytes, kRows}, {kStep}, {kStep});
    EXPECT_EQ(Move(plan, Op::kGet, Mode::kBlocking, region.At(target), back.data(), target), 0);
    EXPECT_TRUE(SameBytes(out.data(), back.data(), kSpan));
  }
}

CLAUSE_TEST(XFER, XFER8_more_than_2_to_the_31_elements, "XFER-8", DeadlineSeconds(200)) {
  if (Quick()) SkipTest("left out by --quick");
  // 2^31 + 2^16 int elements, all added into 65,536 of them: 32,769 times each.
  constexpr int kElements = 65536;
  constexpr int kRepeats = 32769;
  Region region(Me() == Np() - 1 ? kElements * 4 : 8);
  if (Me() == 0) {
    std::vector<int> out(kElements);
    for (int i = 0; i < kElements; ++i) out[static_cast<std::size_t>(i)] = i % 1000;
    int zero[] = {0};
    int count[] = {kElements * 4, kRepeats};
    int scale = 1;
    const int target = Np() - 1;
    EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_INT, &scale, out.data(), zero, region.At(target), zero, count, 1, target), 0);
    std::vector<int> back(kElements);
    EXPECT_EQ(ARMCI_Get(region.At(target), back.data(), kElements * 4, target), 0);
    for (int i = 0; i < kElements; ++i) {
      ASSERT_EQ(back[static_cast<std::size_t>(i)], kRepeats * (i % 1000)) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace conformance
