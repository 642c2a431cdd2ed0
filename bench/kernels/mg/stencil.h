// The operators of the NAS multigrid benchmark on one box, ghosts included. All of them are symmetric and have one
// coefficient each for the centre, the 6 points beside it, the 12 across an edge and the 8 across a corner.
//
// Source: Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 3.
//
// Thread safety: pure functions of the memory that they are given.
#ifndef ARMCI_BENCH_KERNELS_MG_STENCIL_H_
#define ARMCI_BENCH_KERNELS_MG_STENCIL_H_

#include "bench/kernels/mg/grid.h"

namespace armci::bench::mg {

// Of the smoother; that of corners is 0.
struct Smoother {
  double centre;
  double side;
  double edge;
};

enum class Store { kSet, kAdd };

// r = v - A u in the box. `r` may be `v`.
void Residual(const Extent& box, const double* u, const double* v, double* r);

// u = S r, or u += S r, in the box.
void Smooth(const Extent& box, const Smoother& s, const double* r, Store store, double* u);

// coarse = P fine in the coarse box: the weighted mean around every other point.
void Restrict(const Extent& coarse_box, const double* fine, const Extent& fine_box, double* coarse);

// fine = Q coarse, or fine += Q coarse, in the box and its ghosts.
void Prolong(const Extent& coarse_box, const double* coarse, const Extent& fine_box, Store store, double* fine);

// The sum of the squares in the box.
double SumOfSquares(const Extent& box, const double* r);

}  // namespace armci::bench::mg

#endif  // ARMCI_BENCH_KERNELS_MG_STENCIL_H_
