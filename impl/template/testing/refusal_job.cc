// A program linked with the template: ARMCI_Init fails on every process, and MPI goes on.
//
// Status 3 where init failed, 0 where it did not.
#include <armci.h>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = ARMCI_Init() != 0;
  // On every process: a process that still waits inside ARMCI_Init would keep the others here.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return failed ? 3 : 0;
}
