// The clock of the benchmarks.
#ifndef ARMCI_BENCH_COMMON_CLOCK_H_
#define ARMCI_BENCH_COMMON_CLOCK_H_

#include <time.h>

namespace armci::bench {

// Seconds on a clock that all processes of a machine share, so that starts and ends may be compared between them.
inline double NowSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_CLOCK_H_
