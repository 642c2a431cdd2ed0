/* accumulate-strided: MPI_Accumulate with a vector or subarray type on either side loses or misplaces updates. The
 * types begin at their buffers; accumulate-displaced has those that do not.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc accumulate-strided.c -o accumulate-strided && mpiexec -n 2 ./accumulate-strided
 */
#include "reproducer.h"

static void accumulate(MPI_Datatype here, MPI_Datatype there) {
  MPI_Accumulate(origin_numbers, 1, here, other, 0, 1, there, MPI_SUM, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(summed_wrong, accumulate, kStridedAtStart, 1, 3));
  const int wrong = shapes_wrong(summed_wrong, accumulate, kStridedAtStart, 3, 3);
  close_numbers();
  return verdict(wrong);
}
