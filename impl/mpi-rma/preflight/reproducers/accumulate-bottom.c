/* accumulate-bottom: MPI_Accumulate from MPI_BOTTOM with a type of absolute addresses ends the process with a
 * segmentation fault.
 *
 * Control: the same number from its own address.
 *
 * See open-mpi/ompi 14175: osc/ucx.
 *
 *   mpicc accumulate-bottom.c -o accumulate-bottom && mpiexec -n 2 ./accumulate-bottom
 */
#include "reproducer.h"

static int accumulate_wrong(int from_bottom) {
  double number = 2.5;
  MPI_Aint address;
  MPI_Datatype type;
  open_window(0, 4096);
  MPI_Get_address(&number, &address);
  MPI_Type_create_hindexed_block(1, 1, &address, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  if (from_bottom) {
    MPI_Accumulate(MPI_BOTTOM, 1, type, other, 64, 1, MPI_DOUBLE, MPI_SUM, win);
  } else {
    MPI_Accumulate(&number, 1, MPI_DOUBLE, other, 64, 1, MPI_DOUBLE, MPI_SUM, win);
  }
  MPI_Win_flush(other, win);
  meet();
  const int wrong = ((double *)memory)[8] != 2.5;
  MPI_Type_free(&type);
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(accumulate_wrong(0));
  return verdict(accumulate_wrong(1));
}
