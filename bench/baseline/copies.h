// Raw contiguous copies: every way this processor has, so that a benchmark can ask for the best one.
//
// No single routine is the best everywhere: glibc's memcpy switches to `rep movsb` above a threshold, which some
// relative alignments make slow, and copies beyond the last cache gain from non-temporal stores. A benchmark therefore
// times all of them on its own buffers and compares with the fastest.
//
// Thread safety: pure functions; buffers must not overlap.
#ifndef ARMCI_BENCH_BASELINE_COPIES_H_
#define ARMCI_BENCH_BASELINE_COPIES_H_

#include <cstddef>
#include <vector>

namespace armci::bench {

struct CopyRoutine {
  const char* name;
  void (*copy)(void* dst, const void* src, size_t bytes);
};

// The routines the processor can run, found at run time; memcpy comes first.
std::vector<CopyRoutine> CopyRoutines();

// The C library's memcpy behind a call that the compiler can neither inline nor see the length of: what "a
// non-inlined memcpy call of 8 bytes" costs.
void CopyBytesCall(void* dst, const void* src, size_t bytes);

// A copy of 8 bytes as one load and one store, out of line: the least a call that moves 8 bytes can cost.
void CopyEightCall(void* dst, const void* src);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_COPIES_H_
