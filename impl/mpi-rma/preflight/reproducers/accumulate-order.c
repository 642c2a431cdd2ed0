/* accumulate-order: MPI_Accumulate(MPI_REPLACE) and a later MPI_Fetch_and_op on the same element are not in order.
 *
 * Control: the same with a flush between the two.
 *
 *   mpicc accumulate-order.c -o accumulate-order && mpiexec -n 2 ./accumulate-order
 */
#include "reproducer.h"

enum { kRounds = 500 };

static int order_wrong(int flush_between) {
  int wrong = 0;
  open_window(0, 4096);
  for (int round = 1; round <= kRounds; ++round) {
    const int64_t value = 10 * round, one = 1;
    int64_t before = -1;
    MPI_Accumulate(&value, 1, MPI_INT64_T, other, 0, 1, MPI_INT64_T, MPI_REPLACE, win);
    if (flush_between) MPI_Win_flush(other, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, other, 0, MPI_SUM, win);
    MPI_Win_flush(other, win);
    wrong |= before != value;
  }
  meet();
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(order_wrong(1));
  return verdict(order_wrong(0));
}
