// Vectors distributed as the rows of a matrix are, and the ways of fetching what a process needs of those of others.
//
//   a row share's vector:  | own elements, in memory of ARMCI | ghosts, fetched |
//
// There are two vectors, so that one can be written while others still read the other.
//
// Thread safety: one thread per process. Construction, destruction, Fetch and Synchronize are collective.
#ifndef ARMCI_BENCH_KERNELS_VECTOR_EXCHANGE_H_
#define ARMCI_BENCH_KERNELS_VECTOR_EXCHANGE_H_

#include <mpi.h>

#include <memory>
#include <vector>

#include "bench/kernels/row_share.h"
#include "bench/session/session.h"

namespace armci::bench {

class VectorExchange {
 public:
  static constexpr int kVectors = 2;

  virtual ~VectorExchange() = default;

  // Own elements and then the ghosts.
  virtual double* vector(int which) = 0;
  // To be called between writing own elements and Fetch(), which then brings the elements of all owners.
  virtual void Synchronize() = 0;
  // Brings the ghosts of a vector; they stay until it is fetched again.
  virtual void Fetch(int which) = 0;
};

// One non-blocking get for each stretch of adjacent elements; `aggregated` under one handle for each owner.
std::unique_ptr<VectorExchange> MakeGetExchange(const Session& session, const RowShare& share, bool aggregated);

// Each owner knows the elements that others need, packs them, puts them where they are needed, and notifies.
// Precondition: between two fetches of one vector, each process fetches the other vector or synchronizes with all
// processes. An owner then overwrites only ghosts that their reader has used.
std::unique_ptr<VectorExchange> MakePushExchange(const Session& session, const RowShare& share);

// As MakePushExchange, in one message to each process.
std::unique_ptr<VectorExchange> MakeMpiExchange(const RowShare& share);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_VECTOR_EXCHANGE_H_
