/* put-strided: MPI_Put with a vector or subarray type on either side moves wrong data.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc put-strided.c -o put-strided && mpiexec -n 2 ./put-strided
 */
#include "reproducer.h"

static void put(MPI_Datatype here, MPI_Datatype there) {
  MPI_Put(origin_numbers, 1, here, other, 0, 1, there, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(stored_wrong, put, kStrided, 1, 3));
  const int wrong = shapes_wrong(stored_wrong, put, kStrided, 3, 3);
  close_numbers();
  return verdict(wrong);
}
