// The classes of the NAS multigrid benchmark, and its right side: 20 charges at pseudo-random places.
//
// Source: Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, sections 2.2 and 3; the values of verification are
// those that NASA publishes with the benchmarks.
//
// Thread safety: values.
#ifndef ARMCI_BENCH_KERNELS_MG_PROBLEM_H_
#define ARMCI_BENCH_KERNELS_MG_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "bench/kernels/mg/grid.h"
#include "bench/kernels/mg/stencil.h"

namespace armci::bench::mg {

struct Problem {
  const char* name;
  int level;  // 2^level points a side
  int cycles;
  Smoother smoother;
  double norm;  // of the last residual
};

inline constexpr Smoother kSmallSmoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64};
inline constexpr Smoother kLargeSmoother = {-3.0 / 17, 1.0 / 33, -1.0 / 61};
inline constexpr Problem kProblems[] = {
    {"class S", 5, 4, kSmallSmoother, 0.5307707005734e-04},
    {"class W", 7, 4, kSmallSmoother, 0.6467329375339e-05},
    {"class A", 8, 4, kSmallSmoother, 0.2433365309069e-05},
    {"class B", 8, 20, kLargeSmoother, 0.1800564401355e-05},
};
// How far a norm may be from it, as a part of it.
inline constexpr double kTolerance = 1e-8;

// The generator of the benchmarks: x -> 5^13 x mod 2^46.
class Random {
 public:
  static constexpr std::uint64_t kSeed = 314159265;

  // At the number of that place in the sequence; 0 is the first.
  explicit Random(std::uint64_t place);

  // As whole numbers below 2^46.
  std::uint64_t Next();

 private:
  std::uint64_t state_;
};

// A point of the grid, by its place in the sequence of numbers, and its number.
struct Candidate {
  std::uint64_t number;
  std::uint64_t place;
};

inline constexpr size_t kChargesOfASign = 10;

// The points of a box with the largest and the smallest numbers, of each kChargesOfASign at most, best first.
struct Extremes {
  std::vector<Candidate> largest;
  std::vector<Candidate> smallest;

  // Keeps the best of both.
  void Merge(const Extremes& other);
};
Extremes FindExtremes(const Extent& box, const std::array<int, 3>& origin, int points_a_side);

// v = +1 at the largest, -1 at the smallest, 0 elsewhere in the box.
void SetCharges(const Extent& box, const std::array<int, 3>& origin, int points_a_side, const Extremes& charges,
                double* v);

}  // namespace armci::bench::mg

#endif  // ARMCI_BENCH_KERNELS_MG_PROBLEM_H_
