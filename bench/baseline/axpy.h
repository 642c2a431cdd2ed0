// Raw accumulate: y += scale * x over doubles, vectorised, with no atomicity at all.
//
// Thread safety: pure functions.
#ifndef ARMCI_BENCH_BASELINE_AXPY_H_
#define ARMCI_BENCH_BASELINE_AXPY_H_

#include <cstddef>
#include <vector>

namespace armci::bench {

struct AxpyRoutine {
  const char* name;
  void (*add)(double* y, const double* x, double scale, size_t count);
};

// One routine per instruction set of this processor.
std::vector<AxpyRoutine> AxpyRoutines();

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_AXPY_H_
