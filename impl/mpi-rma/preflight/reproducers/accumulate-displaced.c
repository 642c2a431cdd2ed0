/* accumulate-displaced: MPI_Accumulate with a type that begins behind its buffer misplaces updates.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc accumulate-displaced.c -o accumulate-displaced && mpiexec -n 2 ./accumulate-displaced
 */
#include "reproducer.h"

static void accumulate(MPI_Datatype here, MPI_Datatype there) {
  MPI_Accumulate(origin_numbers, 1, here, other, 0, 1, there, MPI_SUM, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(summed_wrong, accumulate, kIndexed, 1, 3));
  const int wrong = shapes_wrong(summed_wrong, accumulate, kIndexed, 2, 3);
  close_numbers();
  return verdict(wrong);
}
