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
  // After own elements were written and before they are fetched: all processes have come so far.
  virtual void Synchronize() = 0;
  // Brings the ghosts of a vector; they stay until it is fetched again.
  virtual void Fetch(int which) = 0;
};

// One non-blocking get for each stretch of adjacent elements; `aggregated` under one handle for each owner.
std::unique_ptr<VectorExchange> MakeGetExchange(const Session& session, const RowShare& share, bool aggregated);

// Each owner knows what is wanted of it, packs it, puts it where the other needs it, and notifies. Between two fetches
// of one vector each process either fetches the other vector or synchronizes with all: it has read what it received by
// then.
std::unique_ptr<VectorExchange> MakePushExchange(const Session& session, const RowShare& share);

// As MakePushExchange, in one message to each process.
std::unique_ptr<VectorExchange> MakeMpiExchange(const RowShare& share);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_VECTOR_EXCHANGE_H_
