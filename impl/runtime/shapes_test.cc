#include "impl/runtime/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace armci::runtime {
namespace {

constexpr std::ptrdiff_t kFar = std::numeric_limits<std::ptrdiff_t>::max();

// The bytes that a shape moves, from and to, in order.
using Bytes = std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;

void loop_nest(const Strided& shape, int level, std::ptrdiff_t src, std::ptrdiff_t dst, Bytes* bytes) {
  if (level < 0) {
    for (std::size_t i = 0; i < shape.count[0]; ++i) bytes->emplace_back(src + i, dst + i);
    return;
  }
  for (std::size_t i = 0; i < shape.count[level + 1]; ++i) {
    loop_nest(shape, level - 1, src, dst, bytes);
    src += shape.src_stride[level];
    dst += shape.dst_stride[level];
  }
}

Bytes by_loop_nest(const Strided& shape) {
  Bytes bytes;
  loop_nest(shape, shape.levels - 1, 0, 0, &bytes);
  return bytes;
}

Bytes by_segments(const Strided& shape) {
  Bytes bytes;
  for_each_segment(shape, [&](std::ptrdiff_t src, std::ptrdiff_t dst) {
    for (std::size_t i = 0; i < shape.count[0]; ++i) bytes.emplace_back(src + i, dst + i);
  });
  return bytes;
}

// Often gapless in one or both notations, so that levels join; sometimes negative, zero, or repeated once.
Strided random_shape(std::mt19937& random) {
  Strided shape{};
  shape.levels = static_cast<int>(random() % (kMaxStrideLevels + 1));
  shape.count[0] = 1 + random() % 5;
  auto src_span = static_cast<std::ptrdiff_t>(shape.count[0]);
  auto dst_span = src_span;
  for (int l = 0; l < shape.levels; ++l) {
    shape.count[l + 1] = 1 + random() % 3;
    const auto stride = [&](std::ptrdiff_t span) -> std::ptrdiff_t {
      switch (random() % 6) {
        case 0:
          return -span;
        case 1:
          return 0;
        case 2:
          return static_cast<std::ptrdiff_t>(random() % 100) - 50;
        default:
          return span;
      }
    };
    shape.src_stride[l] = stride(src_span);
    shape.dst_stride[l] = random() % 2 == 0 ? stride(dst_span) : dst_span;
    src_span = shape.src_stride[l] * static_cast<std::ptrdiff_t>(shape.count[l + 1]);
    dst_span = shape.dst_stride[l] * static_cast<std::ptrdiff_t>(shape.count[l + 1]);
  }
  return shape;
}

TEST(RunsTest, AreTheSegmentsOfAnyRange) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Strided shape = random_shape(random);
    const std::size_t first = random() % shape.segments();
    const std::size_t count = 1 + random() % (shape.segments() - first);
    Bytes expected;
    for_segment_range(shape, first, count,
                      [&](std::ptrdiff_t src, std::ptrdiff_t dst) { expected.emplace_back(src, dst); });
    Bytes segments;
    std::size_t runs = 0;
    for_run_range(shape, first, count, [&](std::ptrdiff_t src, std::ptrdiff_t dst, std::size_t length) {
      ++runs;
      ASSERT_GT(length, 0U);
      for (std::size_t i = 0; i < length; ++i) {
        segments.emplace_back(src, dst);
        if (shape.levels == 0) continue;
        src += shape.src_stride[0];
        dst += shape.dst_stride[0];
      }
    });
    ASSERT_EQ(segments, expected) << "round " << round;
    ASSERT_LE(runs, shape.levels == 0 ? 1 : count / shape.count[1] + 2);
  }
}

TEST(RunsTest, LongLevelsDoNotWrap) {
  const std::size_t half = std::size_t{1} << 63;
  const Strided shape{1, {8, half + 1}, {0}, {0}};
  std::size_t segments = 0;
  for_run_range(shape, half, 1, [&](std::ptrdiff_t, std::ptrdiff_t, std::size_t length) { segments += length; });
  EXPECT_EQ(segments, 1U);
}

TEST(CollapseTest, KeepsTheSequenceOfBytes) {
  std::mt19937 random(20271);
  int joined = 0;
  for (int round = 0; round < 2000; ++round) {
    const Strided shape = random_shape(random);
    Strided collapsed = shape;
    collapsed.collapse();
    ASSERT_EQ(by_segments(collapsed), by_loop_nest(shape)) << "round " << round;
    joined += collapsed.levels < shape.levels;
  }
  EXPECT_GT(joined, 1000);
}

TEST(CollapseTest, IsIdempotent) {
  std::mt19937 random(20272);
  for (int round = 0; round < 2000; ++round) {
    Strided once = random_shape(random);
    once.collapse();
    Strided twice = once;
    twice.collapse();
    ASSERT_EQ(twice.levels, once.levels) << "round " << round;
  }
}

TEST(CollapseTest, AGaplessBlockBecomesOneSegment) {
  Strided shape{3, {8, 4, 5, 6}, {8, 32, 160}, {8, 32, 160}};
  shape.collapse();
  EXPECT_EQ(shape.levels, 0);
  EXPECT_EQ(shape.count[0], 8u * 4 * 5 * 6);
}

TEST(CollapseTest, AGapOnOneSideKeepsTheLevel) {
  Strided shape{1, {8, 4}, {8}, {16}};
  shape.collapse();
  EXPECT_EQ(shape.levels, 1);
}

TEST(CollapseTest, OuterLevelsJoinAboveAGap) {
  Strided shape{2, {8, 4, 5}, {16, 64}, {32, 128}};
  shape.collapse();
  EXPECT_EQ(shape.levels, 1);
  EXPECT_EQ(shape.count[1], 20u);
}

TEST(CollapseTest, LevelsRepeatedOnceGoWhateverTheirStrides) {
  Strided shape{3, {8, 1, 4, 1}, {-77, 16, kFar}, {kFar, 24, 0}};
  shape.collapse();
  EXPECT_EQ(shape.levels, 1);
  EXPECT_EQ(shape.src_stride[0], 16);
  EXPECT_EQ(shape.dst_stride[0], 24);
}

// 2^64 bytes without a gap: joining the levels would make a shape of none.
TEST(CollapseTest, LevelsWhoseProductOverflowsStayApart) {
  const std::size_t huge = std::size_t{1} << 32;
  const auto stride = static_cast<std::ptrdiff_t>(huge);
  Strided shape{1, {huge, huge}, {stride}, {stride}};
  shape.collapse();
  EXPECT_EQ(shape.levels, 1);
  Strided outer{2, {8, huge, huge}, {16, 16 * stride}, {16, 16 * stride}};
  outer.collapse();
  EXPECT_EQ(outer.levels, 2);
}

TEST(NormaliseTest, AShapeOfMoreThanAllMemoryIsNotTakenForAnEmptyOne) {
  const std::size_t count[] = {std::size_t{1} << 32, std::size_t{1} << 32};
  const std::ptrdiff_t stride[] = {std::ptrdiff_t{1} << 32};
  Strided shape;
  ASSERT_TRUE(normalise(stride, stride, count, 1, &shape).ok());
  Extent extent;
  EXPECT_EQ(extent_of(shape.count, shape.dst_stride, shape.levels, &extent).code(), Code::kAddress);
}

TEST(NormaliseTest, AZeroCountAnywhereIsEmpty) {
  for (int zero = 0; zero < 3; ++zero) {
    int count[] = {8, 2, 3};
    count[zero] = 0;
    const int stride[] = {8, 99};
    Strided shape;
    ASSERT_TRUE(normalise(stride, stride, count, 2, &shape).ok());
    EXPECT_TRUE(shape.empty());
    EXPECT_EQ(shape.total_bytes(), 0u);
    EXPECT_TRUE(by_segments(shape).empty());
  }
}

TEST(NormaliseTest, NullStridesAreLegalAtLevelZero) {
  const int count[] = {8};
  Strided shape;
  ASSERT_TRUE((normalise<int, int>(nullptr, nullptr, count, 0, &shape).ok()));
  EXPECT_EQ(shape.total_bytes(), 8u);
}

TEST(NormaliseTest, RefusesWithTheArgumentsName) {
  const int count[10] = {8, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  const int negative[] = {8, -2};
  const int stride[9] = {};
  Strided shape;
  EXPECT_EQ(normalise(stride, stride, count, 9, &shape).code(), Code::kStride);
  EXPECT_EQ(normalise(stride, stride, count, -1, &shape).code(), Code::kStride);
  EXPECT_EQ(normalise(stride, stride, static_cast<const int*>(nullptr), 1, &shape).code(), Code::kNull);
  EXPECT_EQ(normalise(static_cast<const int*>(nullptr), stride, count, 1, &shape).code(), Code::kNull);
  EXPECT_EQ(normalise(stride, stride, negative, 1, &shape).code(), Code::kLength);
}

TEST(NormaliseTest, EveryNotationGivesTheSameBytes) {
  std::mt19937 random(20273);
  for (int round = 0; round < 1000; ++round) {
    const Strided shape = random_shape(random);
    Strided wide;
    Strided classic;
    int count[kMaxStrideLevels + 1];
    int src[kMaxStrideLevels];
    int dst[kMaxStrideLevels];
    for (int l = 0; l <= shape.levels; ++l) count[l] = static_cast<int>(shape.count[l]);
    for (int l = 0; l < shape.levels; ++l) {
      src[l] = static_cast<int>(shape.src_stride[l]);
      dst[l] = static_cast<int>(shape.dst_stride[l]);
    }
    ASSERT_TRUE(normalise(shape.src_stride, shape.dst_stride, shape.count, shape.levels, &wide).ok());
    ASSERT_TRUE(normalise(src, dst, count, shape.levels, &classic).ok());
    ASSERT_EQ(by_segments(wide), by_loop_nest(shape)) << "round " << round;
    ASSERT_EQ(by_segments(classic), by_loop_nest(shape)) << "round " << round;
  }
}

TEST(NormaliseTest, TotalsHave64Bits) {
  const int count[] = {1 << 20, 1 << 20};
  const int stride[] = {1 << 21};
  Strided shape;
  ASSERT_TRUE(normalise(stride, stride, count, 1, &shape).ok());
  EXPECT_EQ(shape.total_bytes(), std::size_t{1} << 40);
}

TEST(ExtentTest, CoversExactlyTheBytesOfTheShape) {
  std::mt19937 random(20274);
  for (int round = 0; round < 1000; ++round) {
    const Strided shape = random_shape(random);
    Extent extent;
    ASSERT_TRUE(extent_of(shape.count, shape.src_stride, shape.levels, &extent).ok());
    std::ptrdiff_t low = kFar;
    std::ptrdiff_t high = -kFar;
    for (const auto& [src, dst] : by_loop_nest(shape)) {
      low = std::min(low, src);
      high = std::max(high, src + 1);
    }
    ASSERT_EQ(extent.low, low) << "round " << round;
    ASSERT_EQ(extent.high, high) << "round " << round;
  }
}

TEST(ExtentTest, ReachesToTheEndsOfTheAddressSpace) {
  const std::size_t count[] = {1, 2};
  const std::ptrdiff_t up[] = {kFar - 1};
  const std::ptrdiff_t down[] = {-kFar - 1};
  Extent extent;
  ASSERT_TRUE(extent_of(count, up, 1, &extent).ok());
  EXPECT_EQ(extent.high, kFar);
  ASSERT_TRUE(extent_of(count, down, 1, &extent).ok());
  EXPECT_EQ(extent.low, -kFar - 1);
}

TEST(ExtentTest, OverflowIsAnErrorNotAWrap) {
  Extent extent{1, 2};
  const auto refused = [&](std::size_t bytes, std::size_t repeats, std::ptrdiff_t stride) {
    const std::size_t count[] = {bytes, repeats};
    return extent_of(count, &stride, 1, &extent).code() == Code::kAddress;
  };
  EXPECT_TRUE(refused(1, 2, kFar));
  EXPECT_TRUE(refused(8, 3, kFar / 2 + 1));
  EXPECT_TRUE(refused(8, 3, -kFar));
  EXPECT_TRUE(refused(SIZE_MAX, 1, 0));
  EXPECT_TRUE(refused(8, SIZE_MAX, 8));
  EXPECT_EQ(extent.low, 1);  // written only on success
  EXPECT_EQ(extent.high, 2);
}

}  // namespace
}  // namespace armci::runtime
