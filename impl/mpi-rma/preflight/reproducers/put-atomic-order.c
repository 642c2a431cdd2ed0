/* put-atomic-order: MPI_Put and a later MPI_Fetch_and_op take effect in another order.
 *
 * Control: the same with a flush between the two.
 *
 * The MPI standard does not promise this order; a program may rely on it only if the library does.
 *
 *   mpicc put-atomic-order.c -o put-atomic-order && mpiexec -n 2 ./put-atomic-order
 */
#include "reproducer.h"

enum { kRounds = 300, kWords = 1024 };

/* Process 0 puts data and raises a flag by an atomic; process 1 waits for the flag and looks at the data. */
static int order_wrong(int flush_between) {
  static int64_t words[kWords];
  const int64_t one = 1;
  int wrong = 0;
  open_window(0, (kWords + 1) * sizeof(int64_t));
  for (int round = 1; round <= kRounds && rank < 2; ++round) {
    int64_t flag = 0;
    if (rank == 0) {
      for (int i = 0; i < kWords; ++i) words[i] = round;
      MPI_Put(words, kWords, MPI_INT64_T, 1, 8, kWords, MPI_INT64_T, win);
      if (flush_between) MPI_Win_flush(1, win);
      MPI_Fetch_and_op(&one, &flag, MPI_INT64_T, 1, 0, MPI_SUM, win);
      MPI_Win_flush(1, win);
      continue;
    }
    while (flag < round) {
      int there;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      MPI_Win_sync(win);
      flag = *(volatile int64_t *)memory;
    }
    MPI_Win_sync(win);
    for (int i = 0; i < kWords; ++i) wrong |= memory[1 + i] < round;
  }
  meet();
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  control(order_wrong(1));
  return verdict(order_wrong(0));
}
