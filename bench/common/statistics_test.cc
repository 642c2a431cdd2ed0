#include "bench/common/statistics.h"

#include <gtest/gtest.h>

namespace armci::bench {
namespace {

TEST(Statistics, NoSamplesGiveZero) { EXPECT_EQ(Quantile({}, 0.5), 0); }

TEST(Statistics, MedianOfAnOddCountIsTheMiddleSample) { EXPECT_EQ(Quantile({9, 1, 5}, 0.5), 5); }

TEST(Statistics, MedianOfAnEvenCountIsHalfWay) { EXPECT_DOUBLE_EQ(Quantile({4, 1, 2, 100}, 0.5), 3); }

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(Quantile({0, 10, 20, 30, 40}, 0.1), 4);
  EXPECT_DOUBLE_EQ(Quantile({0, 10, 20, 30, 40}, 0.9), 36);
  EXPECT_DOUBLE_EQ(Quantile({7, 8}, 0.0), 7);
  EXPECT_DOUBLE_EQ(Quantile({7, 8}, 1.0), 8);
}

TEST(Statistics, SummaryHoldsCentreAndSpread) {
  const Summary summary = Summarise({50, 10, 20, 40, 30, 0, 60, 70, 80, 90, 100});
  EXPECT_DOUBLE_EQ(summary.median, 50);
  EXPECT_DOUBLE_EQ(summary.p10, 10);
  EXPECT_DOUBLE_EQ(summary.p90, 90);
  EXPECT_DOUBLE_EQ(summary.minimum, 0);
}

TEST(Statistics, PairedRatioIgnoresADisturbanceThatHitsWholeRounds) {
  // The third round is ten times slower for both.
  EXPECT_DOUBLE_EQ(MedianOfRatios({2, 4, 20}, {1, 2, 10}), 2);
}

TEST(Statistics, PairedRatioLeavesOutZeroDenominators) { EXPECT_DOUBLE_EQ(MedianOfRatios({5, 3}, {0, 1}), 3); }

}  // namespace
}  // namespace armci::bench
