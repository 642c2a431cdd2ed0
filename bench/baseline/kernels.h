// The vector kernels of one instruction set, as tables that copies.cc, rows.cc and axpy.cc choose from.
//
// Each kernels_<set>.cc compiles kernels.inc for its set; only the tables leave it, and a table may be used only where
// the processor has the set.
#ifndef ARMCI_BENCH_BASELINE_KERNELS_H_
#define ARMCI_BENCH_BASELINE_KERNELS_H_

#include <cstddef>

namespace armci::bench {

// Rows of one fixed length, copied by a loop with the copy inlined.
struct FixedRowKernel {
  size_t row_bytes;
  void (*strided)(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows);
  void (*scattered)(void* const* dst, void* const* src, size_t rows);
};

inline constexpr size_t kRowKernels = 7;  // 16 B, 32 B, ... 1 KiB

struct VectorKernels {
  void (*copy)(void* dst, const void* src, size_t bytes);
  void (*copy_streaming)(void* dst, const void* src, size_t bytes);
  void (*axpy)(double* y, const double* x, double scale, size_t count);
  FixedRowKernel rows[kRowKernels];
};

extern const VectorKernels kKernelsSse2;
extern const VectorKernels kKernelsAvx2;
extern const VectorKernels kKernelsAvx512;

// One instruction set that the processor has.
struct AvailableKernels {
  const char* name;
  const VectorKernels* kernels;
};

inline constexpr size_t kInstructionSets = 3;

// Fills `out` with the sets of this processor, widest last, and returns how many there are.
size_t FindKernels(AvailableKernels (&out)[kInstructionSets]);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_KERNELS_H_
