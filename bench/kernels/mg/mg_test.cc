// The parts of the multigrid benchmark on one process: operators by what they do to fields that are known, the
// generator by its first numbers, faces by where they lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "bench/kernels/mg/grid.h"
#include "bench/kernels/mg/problem.h"
#include "bench/kernels/mg/stencil.h"

namespace armci::bench::mg {
namespace {

constexpr Extent kBox = {{8, 4, 2}};

std::vector<double> Constant(const Extent& box, double value) { return std::vector<double>(box.points(), value); }

// f at every point, ghosts included, by its indices.
template <typename Function>
std::vector<double> Field(const Extent& box, Function f) {
  std::vector<double> field(box.points());
  for (int k = 0; k <= box.n[2] + 1; ++k)
    for (int j = 0; j <= box.n[1] + 1; ++j)
      for (int i = 0; i <= box.n[0] + 1; ++i)
        field[static_cast<size_t>(k) * box.plane() + static_cast<size_t>(j) * box.row() + static_cast<size_t>(i)] =
            f(i, j, k);
  return field;
}

template <typename Check>
void ForEachPoint(const Extent& box, Check check) {
  for (int k = 1; k <= box.n[2]; ++k)
    for (int j = 1; j <= box.n[1]; ++j)
      for (int i = 1; i <= box.n[0]; ++i)
        check(static_cast<size_t>(k) * box.plane() + static_cast<size_t>(j) * box.row() + static_cast<size_t>(i), i, j,
              k);
}

double Linear(int i, int j, int k) { return 2.0 * i - 3.0 * j + 5.0 * k; }

TEST(Residual, OfWhatIsLinearIsTheRightSide) {
  const auto u = Field(kBox, Linear);
  const auto v = Constant(kBox, 7);
  auto r = Constant(kBox, 0);
  Residual(kBox, u.data(), v.data(), r.data());
  ForEachPoint(kBox, [&](size_t at, int, int, int) { ASSERT_NEAR(r[at], 7, 1e-12); });
}

TEST(Residual, OfAQuadraticFieldIsItsLaplacian) {
  // A is twice the Laplacian of a unit grid: per point 12 edges of 1/6 and 8 corners of 1/12.
  const auto u = Field(kBox, [](int i, int, int) { return double(i) * i; });
  const auto v = Constant(kBox, 0);
  auto r = Constant(kBox, 0);
  Residual(kBox, u.data(), v.data(), r.data());
  ForEachPoint(kBox, [&](size_t at, int, int, int) { ASSERT_NEAR(r[at], -(8.0 / 6 + 8.0 / 12), 1e-12); });
}

TEST(Smooth, WeighsThePointsByTheirDistance) {
  const Smoother smoother = {1, 10, 100};
  auto r = Constant(kBox, 0);
  const size_t centre = kBox.plane() + 2 * kBox.row() + 4;
  r[centre] = 1;
  auto u = Constant(kBox, 0);
  Smooth(kBox, smoother, r.data(), Store::kSet, u.data());
  EXPECT_EQ(u[centre], 1);
  EXPECT_EQ(u[centre + 1], 10);
  EXPECT_EQ(u[centre - kBox.row()], 10);
  EXPECT_EQ(u[centre + kBox.plane()], 10);
  EXPECT_EQ(u[centre + 1 + kBox.row()], 100);
  EXPECT_EQ(u[centre + kBox.plane() - kBox.row()], 100);
  EXPECT_EQ(u[centre + 1 + kBox.row() + kBox.plane()], 0);
  Smooth(kBox, smoother, r.data(), Store::kAdd, u.data());
  EXPECT_EQ(u[centre + 1], 20);
}

TEST(Restrict, KeepsTheMeanOfWhatIsLinear) {
  const Extent coarse_box = {{4, 2, 1}};
  const auto fine = Field(kBox, Linear);
  auto coarse = Constant(coarse_box, 0);
  Restrict(coarse_box, fine.data(), kBox, coarse.data());
  // The weights add up to 4.
  ForEachPoint(coarse_box, [&](size_t at, int i, int j, int k) {
    ASSERT_NEAR(coarse[at], 4 * Linear(2 * i, 2 * j, 2 * k), 1e-12);
  });
}

TEST(Prolong, KeepsWhatIsLinearGhostsIncluded) {
  const Extent coarse_box = {{4, 2, 1}};
  const auto coarse = Field(coarse_box, Linear);
  auto fine = Constant(kBox, 1);
  Prolong(coarse_box, coarse.data(), kBox, Store::kAdd, fine.data());
  const auto expected = Field(kBox, [](int i, int j, int k) { return Linear(i, j, k) / 2 + 1; });
  for (size_t at = 0; at < fine.size(); ++at) ASSERT_NEAR(fine[at], expected[at], 1e-12) << at;
}

TEST(Faces, AreUnpackedWhereTheyArePackedFrom) {
  const auto field = Field(kBox, [](int i, int j, int k) { return i + 100 * j + 10000 * k; });
  for (int axis = 0; axis < 3; ++axis) {
    const Face face = FaceOf(kBox, axis, 2);
    std::vector<double> packed(face.points());
    Pack(field.data(), face, packed.data());
    EXPECT_EQ(std::set<double>(packed.begin(), packed.end()).size(), face.points());
    auto other = Constant(kBox, -1);
    Unpack(packed.data(), face, other.data());
    for (size_t at = 0; at < field.size(); ++at) {
      if (other[at] != -1) {
        EXPECT_EQ(other[at], field[at]);
      }
    }
    EXPECT_EQ(std::count(other.begin(), other.end(), -1.0), static_cast<long>(field.size() - face.points()));
  }
}

TEST(Random, AnyPlaceOfTheSequenceIsReachedAtOnce) {
  Random from_start(0);
  for (int i = 0; i < 1000; ++i) from_start.Next();
  EXPECT_EQ(Random(1000).Next(), from_start.Next());
}

TEST(Extremes, OfTheWholeAreThoseOfItsParts) {
  const Extent whole = {{16, 16, 16}};
  const Extremes all = FindExtremes(whole, {0, 0, 0}, 16);
  Extremes merged;
  for (int rank = 0; rank < 8; ++rank) {
    const Decomposition parts(rank, 8);
    merged.Merge(FindExtremes(parts.Box(4), parts.Origin(4), 16));
  }
  ASSERT_EQ(merged.largest.size(), kChargesOfASign);
  for (size_t i = 0; i < kChargesOfASign; ++i) {
    EXPECT_EQ(merged.largest[i].place, all.largest[i].place);
    EXPECT_EQ(merged.smallest[i].place, all.smallest[i].place);
  }
}

TEST(Charges, AreTwentyAndAddUpToNothing) {
  const Extent whole = {{16, 16, 16}};
  auto v = Constant(whole, 5);
  SetCharges(whole, {0, 0, 0}, 16, FindExtremes(whole, {0, 0, 0}, 16), v.data());
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0.0), 0);
  EXPECT_EQ(std::count(v.begin(), v.end(), 1.0), 10);
}

class SharedGrid : public ::testing::TestWithParam<int> {};

TEST_P(SharedGrid, EachPointHasOneOwnerAndNeighboursAgree) {
  const int processes = GetParam();
  std::set<std::array<int, 3>> owned;
  for (int rank = 0; rank < processes; ++rank) {
    const Decomposition parts(rank, processes);
    const Extent box = parts.Box(2);
    const std::array<int, 3> origin = parts.Origin(2);
    ForEachPoint(box, [&](size_t, int i, int j, int k) {
      EXPECT_TRUE(owned.insert({origin[0] + i, origin[1] + j, origin[2] + k}).second);
    });
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(Decomposition(parts.Above(axis), processes).Below(axis), rank);
    }
  }
  EXPECT_EQ(owned.size(), 64U);
}

INSTANTIATE_TEST_SUITE_P(Processes, SharedGrid, ::testing::Values(1, 2, 4, 8));

TEST(SharedGrid, OtherNumbersOfProcessesDoNotFit) {
  for (int processes : {0, 3, 5, 6, 7, 16}) EXPECT_FALSE(Decomposition::Fits(processes)) << processes;
}

}  // namespace
}  // namespace armci::bench::mg
