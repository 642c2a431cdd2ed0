/* win-alone: MPI_Win_create or MPI_Win_create_dynamic on a communicator of one process fails or moves wrong data.
 *
 * Control: the same windows on a communicator of several processes.
 *
 *   mpicc win-alone.c -o win-alone && mpiexec -n 2 ./win-alone
 */
#include "reproducer.h"

/* A window over `comm` with `target` one of its ranks. */
static int created_wrong(MPI_Comm comm, int target) {
  memory = malloc(kWindowBytes);
  if (no_such_window(MPI_Win_create(memory, kWindowBytes, 1, MPI_INFO_NULL, comm, &win))) return 1;
  const int wrong = moves_wrong(target, comm == MPI_COMM_SELF, 0);
  MPI_Win_free(&win);
  free(memory);
  return wrong;
}

static int dynamic_wrong(MPI_Comm comm, int target) {
  const int alone = comm == MPI_COMM_SELF;
  MPI_Aint here, base;
  memory = malloc(kWindowBytes);
  if (no_such_window(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win))) return 1;
  MPI_Win_attach(win, memory, kWindowBytes);
  MPI_Get_address(memory, &here);
  base = here;
  if (!alone) {
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 1, &base, 1, MPI_AINT, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  const int wrong = moves_wrong(target, alone, base);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  free(memory);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(created_wrong(MPI_COMM_WORLD, other) | dynamic_wrong(MPI_COMM_WORLD, other));
  return verdict(created_wrong(MPI_COMM_SELF, 0) | dynamic_wrong(MPI_COMM_SELF, 0));
}
