// How the processes of the multigrid benchmark tell each other what lies along the faces of their boxes, by messages or
// by ARMCI: one axis after the other, so that edges and corners come with the faces.
//
//   process below            us                              process above
//   last face  ------------> ghost below
//                            ghost above <------------------ first face
//   ghost above <----------- first face
//                            last face --------------------> ghost below
//
// Thread safety: one thread per process. Construction, destruction and Exchange are collective.
#ifndef ARMCI_BENCH_KERNELS_MG_GHOSTS_H_
#define ARMCI_BENCH_KERNELS_MG_GHOSTS_H_

#include <mpi.h>

#include <array>
#include <memory>
#include <vector>

#include "bench/kernels/mg/grid.h"

namespace armci::bench {
class Session;
}

namespace armci::bench::mg {

// Memory for fields, and their ghosts.
class Ghosts {
 public:
  virtual ~Ghosts() = default;

  // The same length on every process; zeros.
  virtual double* memory() = 0;
  // Fills the ghosts of the box at `at` of memory(). Blocking; the memory may be changed afterwards.
  virtual void Exchange(size_t at, const Extent& box) = 0;
};

// `doubles` of memory, by MPI_Isend and MPI_Irecv of packed faces; the largest box has `finest`.
std::unique_ptr<Ghosts> MakeMessageGhosts(MPI_Comm comm, const Decomposition& parts, size_t doubles,
                                          const Extent& finest);

// By non-blocking puts, straight to where they belong, and a notification of the receiver; faces across axis 0, whose
// points are single words, are packed.
std::unique_ptr<Ghosts> MakeArmciGhosts(const Session& session, const Decomposition& parts, size_t doubles,
                                        const Extent& finest);

}  // namespace armci::bench::mg

#endif  // ARMCI_BENCH_KERNELS_MG_GHOSTS_H_
