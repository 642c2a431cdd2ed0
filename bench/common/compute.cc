#include "bench/common/compute.h"

#include "bench/common/clock.h"

namespace armci::bench {

void Compute(double seconds) {
  const double end = NowSeconds() + seconds;
  volatile double result = 1;
  while (NowSeconds() < end) {
    double value = result;
    for (int i = 0; i < 1000; ++i) value = value * 1.0000001 + 1e-9;
    result = value;
  }
}

}  // namespace armci::bench
