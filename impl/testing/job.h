// Helpers for test programs that are MPI jobs: the rank of this process, and checks that all processes make together.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

#include <cstdio>

namespace armci::runtime::testing {

inline int rank = 0;
inline int size = 1;
inline int failures = 0;

// After MPI_Init.
inline void read_rank() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

// Collective: a fact that does not hold on some process is a failure on all.
inline void check(bool right, const char* what) {
  int all = right ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == 1) return;
  ++failures;
  if (rank == 0) std::printf("FAILED: %s\n", what);
}

// Finalizes MPI and returns the status for main().
inline int verdict() {
  if (rank == 0) std::printf("%d checks failed\n", failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

}  // namespace armci::runtime::testing
