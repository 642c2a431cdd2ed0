/* win-allocate-atomics: Contended MPI_Fetch_and_op on memory of MPI_Win_allocate loses or repeats updates.
 *
 * Control: the same under MPI_Win_create.
 *
 *   mpicc win-allocate-atomics.c -o win-allocate-atomics && mpiexec -n 2 ./win-allocate-atomics
 */
#include "reproducer.h"

enum { kAdds = 500 };

/* All add to one counter of process 0: each value may be fetched once. */
static int count_wrong(int allocated) {
  const int64_t one = 1;
  int64_t sum = 0;
  open_window(allocated, 4096);
  for (int i = 0; i < kAdds; ++i) {
    int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    sum += before;
  }
  meet();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t total = (int64_t)kAdds * size;
  const int wrong = sum != total * (total - 1) / 2 || (rank == 0 && memory[0] != total);
  close_window(allocated);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(count_wrong(0));
  return verdict(count_wrong(1));
}
