/* ARMCI on some of the processes: the others do what they like with MPI meanwhile. Ranks of the sub-communicator are
 * the process numbers of ARMCI. */
#include <mpi.h>
#include <stdio.h>

#include "armci.h"
#include "message.h"

enum { TIMES = 100, OTHERS_MOST = 64 };

static int use(MPI_Comm comm) {
  void* parts[OTHERS_MOST];
  int me = 0, processes = 0, wrong = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &processes);
  if (ARMCI_Init_mpi_comm(comm) != 0) return 1;
  wrong += armci_msg_me() != me || armci_msg_nproc() != processes;
  if (processes > OTHERS_MOST || ARMCI_Malloc(parts, sizeof(long)) != 0) return 1;
  *(long*)parts[me] = 0;
  ARMCI_Barrier();
  for (int i = 0; i < TIMES; ++i) {
    long before = -1;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, parts[i % processes], 1, i % processes);
    wrong += before < 0 || before >= (long)TIMES * processes;
  }
  ARMCI_Barrier();
  long sum = *(long*)parts[me];
  armci_msg_lgop(&sum, 1, "+");
  wrong += sum != (long)TIMES * processes;
  ARMCI_Free(parts[me]);
  ARMCI_Finalize();
  return wrong;
}

int main(int argc, char** argv) {
  int rank = 0, size = 1, wrong = 0;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* The order of ranks is turned round: numbers of ARMCI are not those of the job. */
  const int is_in = rank > 0 || size == 1;
  MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, -rank, &part);
  if (is_in) {
    wrong = use(part);
    MPI_Comm_free(&part);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sub_communicator: %s, %d of %d processes\n", wrong == 0 ? "PASS" : "FAIL", size > 1 ? size - 1 : 1, size);
  MPI_Finalize();
  return wrong != 0;
}
