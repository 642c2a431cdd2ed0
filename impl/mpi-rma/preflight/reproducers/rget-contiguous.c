/* rget-contiguous: MPI_Rget with contiguous types moves wrong data or completes before the data has arrived.
 *
 * Control: the same by MPI_Get and MPI_Win_flush.
 *
 *   mpicc rget-contiguous.c -o rget-contiguous && mpiexec -n 2 ./rget-contiguous
 */
#include "reproducer.h"

static void get(MPI_Datatype here, MPI_Datatype there) {
  MPI_Get(origin_numbers, 1, here, other, 0, 1, there, win);
  MPI_Win_flush(other, win);
}

static void get_with_request(MPI_Datatype here, MPI_Datatype there) {
  MPI_Request request;
  MPI_Rget(origin_numbers, 1, here, other, 0, 1, there, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(fetched_wrong, get, kStrided, 1, 30));
  const int wrong = shapes_wrong(fetched_wrong, get_with_request, kStrided, 1, 30);
  close_numbers();
  return verdict(wrong);
}
