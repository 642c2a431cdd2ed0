/* rput-contiguous: MPI_Rput with contiguous types moves wrong data.
 *
 * Control: the same by MPI_Put and MPI_Win_flush_local.
 *
 *   mpicc rput-contiguous.c -o rput-contiguous && mpiexec -n 2 ./rput-contiguous
 */
#include "reproducer.h"

static void put(MPI_Datatype here, MPI_Datatype there) {
  MPI_Put(origin_numbers, 1, here, other, 0, 1, there, win);
  MPI_Win_flush_local(other, win);
}

static void put_with_request(MPI_Datatype here, MPI_Datatype there) {
  MPI_Request request;
  MPI_Rput(origin_numbers, 1, here, other, 0, 1, there, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  open_numbers();
  control(shapes_wrong(stored_wrong, put, kStrided, 1, 30));
  const int wrong = shapes_wrong(stored_wrong, put_with_request, kStrided, 1, 30);
  close_numbers();
  return verdict(wrong);
}
