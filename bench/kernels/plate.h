// The matrix of a plate, as finite elements give it: hexahedra of 8 nodes, three nodes thick, two unknowns per node.
//
//   z
//   |  y            node (x, y, z) has the number (x * width + y) * 3 + z before the slabs are shuffled, and the
//   | /             unknowns 2 * node and 2 * node + 1; a last slice may be filled in part
//   |/
//   +------------------------- x, along the plate
//   | slab 0 | slab 1 | ... |  the numbers of a slab's nodes are shuffled, as mesh generators leave them: what a slab
//                              needs of its neighbour then lies scattered in it, in runs of a node's two unknowns
//
// On such a grid the assembled matrix is a sum of products of matrices of one dimension. With k the stiffness and m the
// mass along one axis, s = kx my mz + mx ky mz + mx my kz + sigma mx my mz, and the two unknowns of a node are coupled
// by d = (2 1/2; 1/2 1): the matrix is the product of d and s. Both are symmetric and positive definite, so it is.
//
// Thread safety: a pure function.
#ifndef ARMCI_BENCH_KERNELS_PLATE_H_
#define ARMCI_BENCH_KERNELS_PLATE_H_

#include <cstdint>

#include "bench/kernels/sparse_matrix.h"

namespace armci::bench {

struct Plate {
  long unknowns = 41'092;
  int width = 28;  // in nodes
  int slabs = 8;
  uint64_t seed = 1;
};

SparseMatrix MakePlate(const Plate& plate);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_PLATE_H_
