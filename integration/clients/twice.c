/* A library inside a program starts ARMCI, ends it, and starts it again, twice nested the last time: each time it is
 * whole, and MPI stays usable. */
#include <mpi.h>
#include <stdio.h>

#include "armci.h"

enum { BYTES = 4096, PROCESSES_MOST = 64 };

static int use(int turn, int me, int processes) {
  void* parts[PROCESSES_MOST];
  int value = turn * 1000 + me, found = -1, wrong = 0;
  if (processes > PROCESSES_MOST || ARMCI_Malloc(parts, BYTES) != 0) return 1;
  const int next = (me + 1) % processes;
  wrong += ARMCI_Put(&value, parts[next], sizeof value, next) != 0;
  ARMCI_Barrier();
  wrong += ARMCI_Get(parts[me], &found, sizeof found, me) != 0;
  wrong += found != turn * 1000 + (me + processes - 1) % processes;
  ARMCI_Barrier();
  wrong += ARMCI_Free(parts[me]) != 0;
  return wrong;
}

int main(int argc, char** argv) {
  int me = 0, processes = 1, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  for (int turn = 1; turn <= 3; ++turn) {
    wrong += ARMCI_Initialized() != 0;
    wrong += ARMCI_Init() != 0;
    if (turn == 3) wrong += ARMCI_Init() != 0;
    wrong += use(turn, me, processes);
    if (turn == 3) {
      ARMCI_Finalize();
      wrong += ARMCI_Initialized() != 1;
      wrong += use(turn, me, processes);
    }
    ARMCI_Finalize();
    wrong += ARMCI_Initialized() != 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("twice: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", processes);
  MPI_Finalize();
  return wrong != 0;
}
