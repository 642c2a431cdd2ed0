// The plate is what the kernel says it is, and shares of a matrix multiply as the whole does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/kernels/blocks.h"
#include "bench/kernels/draw.h"
#include "bench/kernels/plate.h"
#include "bench/kernels/row_share.h"
#include "bench/kernels/sparse_matrix.h"

namespace armci::bench {
namespace {

// The number of pivots above 0 of an elimination without exchanges, in a dense copy: all, when positive definite.
long PositivePivots(const SparseMatrix& matrix) {
  const long n = matrix.rows();
  std::vector<std::vector<double>> dense(static_cast<size_t>(n), std::vector<double>(static_cast<size_t>(n), 0));
  for (size_t row = 0; row < dense.size(); ++row) {
    for (long e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      dense[row][static_cast<size_t>(matrix.column[static_cast<size_t>(e)])] = matrix.value[static_cast<size_t>(e)];
    }
  }
  long positive = 0;
  for (size_t k = 0; k < dense.size(); ++k) {
    if (dense[k][k] > 0) ++positive;
    for (size_t i = k + 1; i < dense.size(); ++i) {
      const double factor = dense[i][k] / dense[k][k];
      for (size_t j = k; j < dense.size(); ++j) dense[i][j] -= factor * dense[k][j];
    }
  }
  return positive;
}

std::vector<double> Numbers(long n) {
  std::vector<double> numbers(static_cast<size_t>(n));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1 + static_cast<double>(i % 11) / 7;
  return numbers;
}

TEST(Draw, GivesWhatTheStandardFixes) {
  // The 10000th number of std::mt19937_64 as it starts is 9981545732273789042.
  Draw draw(std::mt19937_64::default_seed);
  for (int i = 1; i < 10000; ++i) draw.Below(1);
  EXPECT_EQ(draw.Below(1000), ((9981545732273789042U >> 32) * 1000) >> 32);
}

TEST(Draw, ShufflesOnlyTheRangeAndLosesNothing) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  Draw(3).Shuffle(values, 10, 90);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values[9], 9);
  EXPECT_EQ(values[90], 90);
  std::sort(values.begin(), values.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i);
}

TEST(Blocks, CoverAllAndKnowTheirOwner) {
  for (long total : {1L, 7L, 8L, 9L, 41'092L}) {
    for (int parts = 1; parts <= 9; ++parts) {
      const Blocks blocks = {total, parts};
      EXPECT_EQ(blocks.begin(0), 0);
      EXPECT_EQ(blocks.begin(parts), total);
      for (long i = 0; i < total; i += 1 + total / 1000) {
        const int owner = blocks.owner(i);
        EXPECT_TRUE(blocks.begin(owner) <= i && i < blocks.begin(owner + 1)) << total << " " << parts << " " << i;
      }
    }
  }
}

TEST(Plate, HasTheCountsOfTheProblem) {
  const SparseMatrix matrix = MakePlate({});
  EXPECT_EQ(matrix.rows(), 41'092);
  EXPECT_EQ(matrix.columns, 41'092);
  EXPECT_NEAR(static_cast<double>(matrix.entries()), 1.68e6, 0.005 * 1.68e6);
}

TEST(Plate, HasEveryIndexInRange) { EXPECT_EQ(FaultOf(MakePlate({})), ""); }

TEST(Plate, IsSymmetric) { EXPECT_TRUE(IsSymmetric(MakePlate({}))); }

TEST(Plate, IsPositiveDefinite) {
  for (long unknowns : {1L, 2L, 90L, 301L}) {
    EXPECT_EQ(PositivePivots(MakePlate({unknowns, 5})), unknowns) << unknowns;
  }
}

TEST(Plate, LeavesNoEntryToCancellation) {
  const SparseMatrix matrix = MakePlate({3000});
  EXPECT_EQ(std::count(matrix.value.begin(), matrix.value.end(), 0.0), 0);
}

TEST(Plate, ScattersWhatANeighbourNeedsInShortRuns) {
  const RowShare share = ShareOf(MakePlate({}), 0, 2);
  EXPECT_GE(share.ghosts.size(), 168U);  // a slice
  EXPECT_GE(share.stretches.size(), share.ghosts.size() / 3);
  EXPECT_LE(share.stretches.size(), share.ghosts.size() / 2 + 1);
}

TEST(RowShare, MultipliesAsTheWholeDoesBitByBit) {
  const SparseMatrix matrix = MakePlate({2001, 7});
  const std::vector<double> x = Numbers(matrix.rows());
  std::vector<double> expected(x.size());
  Multiply(matrix, x.data(), expected.data());
  for (int parts = 1; parts <= 8; ++parts) {
    std::vector<double> y(x.size());
    for (int part = 0; part < parts; ++part) {
      const RowShare share = ShareOf(matrix, part, parts);
      const auto first = static_cast<size_t>(share.blocks.begin(part));
      std::vector<double> local(x.begin() + static_cast<long>(first),
                                x.begin() + static_cast<long>(first) + share.owned());
      local.resize(static_cast<size_t>(share.length()));
      for (const Stretch& run : share.stretches) {
        const long from = share.blocks.begin(run.owner) + run.first;
        std::copy_n(x.begin() + from, run.length, local.begin() + run.place);
      }
      Multiply(share.rows, local.data(), y.data() + first);
    }
    EXPECT_EQ(y, expected) << parts;
  }
}

TEST(RowShare, IsEmptyWhereThereAreFewerRowsThanProcesses) {
  const SparseMatrix matrix = MakePlate({3});
  long rows = 0;
  for (int part = 0; part < 8; ++part) rows += ShareOf(matrix, part, 8).rows.rows();
  EXPECT_EQ(rows, 3);
}

TEST(SparseMatrix, NormBoundsAProduct) {
  const SparseMatrix matrix = MakePlate({500});
  const std::vector<double> ones(500, 1.0);
  std::vector<double> y(500);
  Multiply(matrix, ones.data(), y.data());
  for (double element : y) EXPECT_LE(std::abs(element), RowSumNorm(matrix));
}

TEST(SparseMatrix, TellsAColumnOutOfRange) {
  EXPECT_EQ(FaultOf({2, {0, 1, 2}, {0, 2}, {1, 1}}), "row 1: a column is out of range");
}

TEST(SparseMatrix, TellsColumnsThatDoNotAscend) {
  EXPECT_EQ(FaultOf({2, {0, 2}, {1, 1}, {1, 1}}), "row 0: columns do not ascend");
}

TEST(SparseMatrix, TellsCountsThatDoNotFit) {
  EXPECT_EQ(FaultOf({2, {0, 3}, {0, 1}, {1, 1}}), "the number of entries is wrong");
}

TEST(SparseMatrix, TellsAsymmetry) {
  EXPECT_FALSE(IsSymmetric({2, {0, 2, 3}, {0, 1, 1}, {1, 1, 1}}));
  EXPECT_TRUE(IsSymmetric({2, {0, 2, 4}, {0, 1, 0, 1}, {1, 5, 5, 1}}));
}

}  // namespace
}  // namespace armci::bench
