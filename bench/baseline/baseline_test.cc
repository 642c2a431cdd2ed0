// Every raw routine does what it is compared for: a baseline that does less than the call would be no baseline.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "bench/baseline/atomics.h"
#include "bench/baseline/axpy.h"
#include "bench/baseline/copies.h"
#include "bench/baseline/rows.h"

namespace armci::bench {
namespace {

constexpr size_t kGuard = 128;

std::vector<char> Pattern(size_t bytes) {
  std::vector<char> pattern(bytes);
  for (size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<char>(i * 31 + i / 251 + 1);
  return pattern;
}

TEST(Copies, MoveExactlyTheBytesNamedAtEveryAlignment) {
  const std::vector<char> source = Pattern(20'000);
  for (const CopyRoutine& routine : CopyRoutines()) {
    for (size_t bytes : {0, 1, 8, 63, 64, 65, 127, 255, 256, 511, 513, 1000, 4095, 4096, 4097, 16'384}) {
      for (size_t src_offset : {0, 1, 8, 16, 33, 63}) {
        for (size_t dst_offset : {0, 1, 8, 48, 63}) {
          std::vector<char> destination(bytes + 2 * kGuard + 64, 'g');
          std::vector<char> expected = destination;
          std::memcpy(expected.data() + kGuard + dst_offset, source.data() + src_offset, bytes);
          routine.copy(destination.data() + kGuard + dst_offset, source.data() + src_offset, bytes);
          ASSERT_EQ(destination, expected)
              << routine.name << " bytes " << bytes << " at " << src_offset << "/" << dst_offset;
        }
      }
    }
  }
}

TEST(Copies, EightByteCallMovesEight) {
  const std::vector<char> source = Pattern(8);
  std::vector<char> destination(10, 'g');
  CopyEightCall(destination.data() + 1, source.data());
  EXPECT_EQ(std::memcmp(destination.data() + 1, source.data(), 8), 0);
  EXPECT_EQ(destination[0], 'g');
  EXPECT_EQ(destination[9], 'g');
}

TEST(Rows, LoopsExistForEveryPowerOfTwo) {
  for (size_t row = 16; row <= 1024; row *= 2) {
    EXPECT_FALSE(StridedLoops(row).empty()) << row;
    EXPECT_FALSE(ScatteredLoops(row).empty()) << row;
  }
  EXPECT_TRUE(StridedLoops(24).empty());
}

TEST(Rows, StridedAndScatteredLoopsMoveTheirRowsOnly) {
  constexpr size_t kRows = 5;
  for (size_t row = 16; row <= 1024; row *= 2) {
    const size_t dst_stride = row + 24;
    const size_t src_stride = row + 8;
    std::vector<char> source = Pattern(src_stride * kRows);
    std::vector<char> expected(dst_stride * kRows, 'g');
    std::vector<void*> from;
    for (size_t i = 0; i < kRows; ++i) {
      std::memcpy(expected.data() + i * dst_stride, source.data() + i * src_stride, row);
      from.push_back(source.data() + i * src_stride);
    }
    for (const StridedLoop& loop : StridedLoops(row)) {
      std::vector<char> destination(expected.size(), 'g');
      loop.copy(destination.data(), dst_stride, source.data(), src_stride, kRows);
      EXPECT_EQ(destination, expected) << loop.name << " " << row;
    }
    for (const ScatteredLoop& loop : ScatteredLoops(row)) {
      std::vector<char> destination(expected.size(), 'g');
      std::vector<void*> to;
      for (size_t i = 0; i < kRows; ++i) to.push_back(destination.data() + i * dst_stride);
      loop.copy(to.data(), from.data(), kRows);
      EXPECT_EQ(destination, expected) << loop.name << " " << row;
    }
  }
}

TEST(Axpy, AddsTheScaledVector) {
  for (const AxpyRoutine& routine : AxpyRoutines()) {
    for (size_t count : {0, 1, 7, 8, 31, 32, 33, 1000}) {
      std::vector<double> x(count);
      std::iota(x.begin(), x.end(), 1.0);
      std::vector<double> y(count + 1, 10.0);
      routine.add(y.data(), x.data(), 2.0, count);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], 10.0 + 2.0 * x[i]) << routine.name << " " << count;
      ASSERT_EQ(y[count], 10.0) << routine.name;
    }
  }
}

TEST(Atomics, ReturnTheValueBefore) {
  long number = 40;
  EXPECT_EQ(FetchAddCall(&number, 2), 40);
  EXPECT_EQ(ExchangeCall(&number, 7), 42);
  EXPECT_EQ(number, 7);
  int small = -1;
  EXPECT_EQ(FetchAddCall(&small, 2), -1);
  EXPECT_EQ(ExchangeCall(&small, 5), 1);
  EXPECT_EQ(small, 5);
}

}  // namespace
}  // namespace armci::bench
