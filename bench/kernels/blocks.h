// 0..total-1 in as many contiguous blocks as there are processes, alike but for one.
//
// Thread safety: a value.
// Invariants: every index is in the block of its owner; where there are fewer indices than blocks some are empty.
#ifndef ARMCI_BENCH_KERNELS_BLOCKS_H_
#define ARMCI_BENCH_KERNELS_BLOCKS_H_

namespace armci::bench {

struct Blocks {
  long total = 0;
  int parts = 1;

  long begin(int part) const { return total * part / parts; }
  long size(int part) const { return begin(part + 1) - begin(part); }
  int owner(long index) const { return static_cast<int>(((index + 1) * parts - 1) / total); }
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_BLOCKS_H_
