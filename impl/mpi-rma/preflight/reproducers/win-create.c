/* win-create: Contiguous put, get or accumulate through MPI_Win_create over private memory moves wrong data, or
 * there is no such window.
 *
 * Control: the same numbers by a message.
 *
 *   mpicc win-create.c -o win-create && mpiexec -n 2 ./win-create
 */
#include "reproducer.h"

static int window_wrong(void) {
  memory = malloc(kWindowBytes);
  if (no_such_window(MPI_Win_create(memory, kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win))) return 1;
  const int wrong = moves_wrong(other, 0, 0);
  MPI_Win_free(&win);
  free(memory);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(messages_wrong());
  return verdict(window_wrong());
}
