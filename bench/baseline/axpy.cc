#include "bench/baseline/axpy.h"

#include "bench/baseline/kernels.h"

namespace armci::bench {

std::vector<AxpyRoutine> AxpyRoutines() {
  std::vector<AxpyRoutine> routines;
  AvailableKernels sets[kInstructionSets];
  const size_t found = FindKernels(sets);
  for (size_t i = 0; i < found; ++i) routines.push_back({sets[i].name, sets[i].kernels->axpy});
  return routines;
}

}  // namespace armci::bench
