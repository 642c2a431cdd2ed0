// The rows of one process of a sparse matrix that is distributed by blocks of rows, and what it needs of the others.
//
//   vector of one process:  | its own elements | ghosts: elements of others, by their number, so by their owner |
//
// Thread safety: values and a pure function.
// Invariants: `rows` has its columns renamed to places in that vector, its entries in the order they had; the stretches
// cover the ghosts, in order, each adjacent elements of one owner.
#ifndef ARMCI_BENCH_KERNELS_ROW_SHARE_H_
#define ARMCI_BENCH_KERNELS_ROW_SHARE_H_

#include <vector>

#include "bench/kernels/blocks.h"
#include "bench/kernels/sparse_matrix.h"

namespace armci::bench {

struct Stretch {
  int owner;
  long first;  // element among those of the owner
  long place;  // of the first one in the vector
  long length;
};

struct RowShare {
  Blocks blocks;
  int part = 0;
  SparseMatrix rows;
  std::vector<long> ghosts;  // their numbers in the whole
  std::vector<Stretch> stretches;

  long owned() const { return blocks.size(part); }
  long length() const { return owned() + static_cast<long>(ghosts.size()); }
};

// The share of `part`; the matrix is square.
RowShare ShareOf(const SparseMatrix& matrix, int part, int parts);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_ROW_SHARE_H_
