#include "bench/baseline/work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/common/clock.h"

namespace armci::bench {

void Work(long steps) {
  unsigned long value = 1;
  for (long i = 0; i < steps; ++i) {
    value = value * 6364136223846793005ul + 1442695040888963407ul;
    asm volatile("" : "+r"(value));  // keeps the chain: the result itself is of no interest
  }
}

long StepsFor(double seconds) {
  constexpr long kProbe = 100'000;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 9; ++repeat) {
    const double start = NowSeconds();
    Work(kProbe);
    best = std::min(best, NowSeconds() - start);
  }
  return std::max(1L, std::lround(seconds / best * kProbe));
}

}  // namespace armci::bench
