/* put-indexed: MPI_Put with an indexed type on either side moves wrong data.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc put-indexed.c -o put-indexed && mpiexec -n 2 ./put-indexed
 */
#include "reproducer.h"

static void put(MPI_Datatype here, MPI_Datatype there) {
  MPI_Put(origin_numbers, 1, here, other, 0, 1, there, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(stored_wrong, put, kIndexed, 1, 3));
  const int wrong = shapes_wrong(stored_wrong, put, kIndexed, 2, 3);
  close_numbers();
  return verdict(wrong);
}
