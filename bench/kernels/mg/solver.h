// The NAS multigrid benchmark (MG): a few V-cycles for A u = v on a periodic cube.
//
//   finest   r = v - A u .                                          . u += Q u', r = v - A u, u += S r
//                          \                                       /
//                            r' = P r .             . u' = Q u'', r' -= A u', u' += S r'
//                                       \         /
//   coarsest                              u'' = S r''
//
// The ghosts of what is written on a level are exchanged before it is read.
//
// Source: Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 3.
//
// Thread safety: one thread per process. All but norm() are collective.
#ifndef ARMCI_BENCH_KERNELS_MG_SOLVER_H_
#define ARMCI_BENCH_KERNELS_MG_SOLVER_H_

#include <memory>
#include <vector>

#include "bench/kernels/mg/ghosts.h"
#include "bench/kernels/mg/grid.h"
#include "bench/kernels/mg/problem.h"

namespace armci::bench::mg {

// The right side in the box of each process, ghosts left out.
std::vector<double> MakeCharges(MPI_Comm comm, const Problem& problem, const Decomposition& parts);

class Solver {
 public:
  // `ghosts` has memory for two fields with these levels; `v` is of the finest box.
  Solver(MPI_Comm comm, const Problem& problem, const Levels& levels, std::shared_ptr<const std::vector<double>> v,
         std::unique_ptr<Ghosts> ghosts);

  // From u = 0 through all cycles.
  void Solve();
  // Of the last residual.
  double norm() const { return norm_; }

 private:
  double* U(int level) const { return ghosts_->memory() + levels_.begin(level); }
  double* R(int level) const { return ghosts_->memory() + levels_.points() + levels_.begin(level); }
  void ExchangeU(int level) { ghosts_->Exchange(levels_.begin(level), levels_.box(level)); }
  void ExchangeR(int level) { ghosts_->Exchange(levels_.points() + levels_.begin(level), levels_.box(level)); }
  void Cycle();
  void FindResidual();
  double Norm() const;

  MPI_Comm comm_;
  Problem problem_;
  Levels levels_;
  std::shared_ptr<const std::vector<double>> v_;
  std::unique_ptr<Ghosts> ghosts_;
  double norm_ = 0;
};

}  // namespace armci::bench::mg

#endif  // ARMCI_BENCH_KERNELS_MG_SOLVER_H_
