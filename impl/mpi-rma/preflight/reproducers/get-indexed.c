/* get-indexed: MPI_Get with an indexed type on either side moves wrong data. The data
 * have to be at the origin when MPI_Win_flush returns.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc get-indexed.c -o get-indexed && mpiexec -n 2 ./get-indexed
 */
#include "reproducer.h"

static void get(MPI_Datatype here, MPI_Datatype there) {
  MPI_Get(origin_numbers, 1, here, other, 0, 1, there, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(fetched_wrong, get, kIndexed, 1, 3));
  const int wrong = shapes_wrong(fetched_wrong, get, kIndexed, 2, 3);
  close_numbers();
  return verdict(wrong);
}
