/* win-allocate-equal: MPI_Win_allocate with equal sizes moves wrong data.
 *
 * Control: the same numbers by a message.
 *
 *   mpicc win-allocate-equal.c -o win-allocate-equal && mpiexec -n 2 ./win-allocate-equal
 */
#include "reproducer.h"

static int window_wrong(void) {
  if (no_such_window(MPI_Win_allocate(kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win))) return 1;
  const int wrong = moves_wrong(other, 0, 0);
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(messages_wrong());
  return verdict(window_wrong());
}
