#include "bench/baseline/rows.h"

#include "bench/baseline/kernels.h"

namespace armci::bench {
namespace {

template <typename Loop, typename Choose>
std::vector<Loop> LoopsFor(size_t row_bytes, Choose choose) {
  std::vector<Loop> loops;
  AvailableKernels sets[kInstructionSets];
  const size_t found = FindKernels(sets);
  for (size_t i = 0; i < found; ++i) {
    for (const FixedRowKernel& kernel : sets[i].kernels->rows) {
      if (kernel.row_bytes == row_bytes) loops.push_back({sets[i].name, choose(kernel)});
    }
  }
  return loops;
}

}  // namespace

std::vector<StridedLoop> StridedLoops(size_t row_bytes) {
  return LoopsFor<StridedLoop>(row_bytes, [](const FixedRowKernel& kernel) { return kernel.strided; });
}

std::vector<ScatteredLoop> ScatteredLoops(size_t row_bytes) {
  return LoopsFor<ScatteredLoop>(row_bytes, [](const FixedRowKernel& kernel) { return kernel.scattered; });
}

}  // namespace armci::bench
