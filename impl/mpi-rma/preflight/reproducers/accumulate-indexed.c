/* accumulate-indexed: MPI_Accumulate with an indexed type on either side loses or misplaces updates. The types begin at
 * their buffers; accumulate-displaced has those that do not.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc accumulate-indexed.c -o accumulate-indexed && mpiexec -n 2 ./accumulate-indexed
 */
#include "reproducer.h"

static void accumulate(MPI_Datatype here, MPI_Datatype there) {
  MPI_Accumulate(origin_numbers, 1, here, other, 0, 1, there, MPI_SUM, win);
  MPI_Win_flush(other, win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(summed_wrong, accumulate, kIndexedAtStart, 1, 3));
  const int wrong = shapes_wrong(summed_wrong, accumulate, kIndexedAtStart, 2, 3);
  close_numbers();
  return verdict(wrong);
}
