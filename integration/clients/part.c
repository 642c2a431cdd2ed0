/* A shared object of two_parts. FACTOR tells the two apart. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "armci.h"

enum { LENGTH = 100, TAG = 1 };

static MPI_Comm comm;
static long** parts;
static int me, processes;

int begin(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &processes);
  if (ARMCI_Init_mpi_comm(comm) != 0) return 1;
  parts = malloc(sizeof *parts * (size_t)processes);
  return ARMCI_Malloc((void**)parts, LENGTH * sizeof(long)) != 0;
}

/* A put to the next process, and a message to it with the same tag as the other part's. */
int step(int round) {
  const int next = (me + 1) % processes, before = (me + processes - 1) % processes;
  long values[LENGTH];
  for (int i = 0; i < LENGTH; ++i) values[i] = (long)FACTOR * (1000 * me + 10 * round + i);
  int wrong = ARMCI_Put(values, parts[next], sizeof values, next) != 0;
  long number = FACTOR * me;
  MPI_Sendrecv_replace(&number, 1, MPI_LONG, next, TAG, before, TAG, comm, MPI_STATUS_IGNORE);
  wrong += number != FACTOR * before;
  ARMCI_Barrier();
  for (int i = 0; i < LENGTH; ++i) wrong += parts[me][i] != (long)FACTOR * (1000 * before + 10 * round + i);
  ARMCI_Barrier();
  return wrong;
}

int end(void) {
  int wrong = ARMCI_Free(parts[me]) != 0;
  free(parts);
  wrong += ARMCI_Finalize() != 0;
  MPI_Comm_free(&comm);
  return wrong;
}
