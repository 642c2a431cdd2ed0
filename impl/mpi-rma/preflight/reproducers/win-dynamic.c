/* win-dynamic: Put, get, accumulate or an atomic through a dynamic window moves wrong data, or there is no such
 * window.
 *
 * Control: the same numbers by a message.
 *
 *   mpicc win-dynamic.c -o win-dynamic && mpiexec -n 2 ./win-dynamic
 */
#include "reproducer.h"

static int window_wrong(void) {
  MPI_Aint here, base;
  memory = malloc(kWindowBytes);
  if (no_such_window(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win))) return 1;
  MPI_Win_attach(win, memory, kWindowBytes);
  MPI_Get_address(memory, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 1, &base, 1, MPI_AINT, other, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const int wrong = moves_wrong(other, 0, base);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  free(memory);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(messages_wrong());
  return verdict(window_wrong());
}
