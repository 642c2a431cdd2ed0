// Prints what the preflight finds, as the tests of it and a curious user want it: one `fault ID` a line, and the time.
//
//   preflight_program [0|1|force]
//
// Status 1 when the processes do not agree.
#include <mpi.h>

#include <cstdio>

#include "impl/mpi-rma/preflight/preflight.h"

int main(int argc, char** argv) {
  armci::rma::PreflightMode mode = armci::rma::PreflightMode::kCached;
  if (argc > 1 && !armci::rma::parse_preflight_mode(argv[1], &mode)) return 2;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const armci::rma::Findings found = armci::rma::preflight(MPI_COMM_WORLD, mode);
  const double seconds = MPI_Wtime() - start;

  unsigned long long least = found.bits();
  unsigned long long most = found.bits();
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_BAND, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_BOR, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::printf("preflight %s, %.3f s, thread level %d\n", armci::rma::origin_text(found.origin()), seconds, provided);
    for (const armci::rma::FaultRow& row : armci::rma::fault_table()) {
      if (found.has(row.fault)) std::printf("fault %s\n", row.id);
    }
  }
  MPI_Finalize();
  return least == most ? 0 : 1;
}
