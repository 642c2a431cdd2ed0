// Raw non-contiguous copies: the plain loop over rows or segments that a program would write, copies inlined.
//
// Thread safety: pure functions; rows must not overlap.
#ifndef ARMCI_BENCH_BASELINE_ROWS_H_
#define ARMCI_BENCH_BASELINE_ROWS_H_

#include <cstddef>
#include <vector>

namespace armci::bench {

struct StridedLoop {
  const char* name;
  void (*copy)(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows);
};

struct ScatteredLoop {
  const char* name;
  void (*copy)(void* const* dst, void* const* src, size_t rows);
};

// The loops this processor can run for rows of `row_bytes`, a power of two from 16 to 1024; empty for other lengths.
std::vector<StridedLoop> StridedLoops(size_t row_bytes);
std::vector<ScatteredLoop> ScatteredLoops(size_t row_bytes);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_ROWS_H_
