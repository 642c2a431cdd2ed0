/* atomic-starvation: A process that polls its own memory by MPI_Fetch_and_op keeps the atomics of others from it
 * for ever.
 *
 * Control: process 1 polls by loads, MPI_Win_sync and MPI_Iprobe.
 *
 *   mpicc atomic-starvation.c -o atomic-starvation && mpiexec -n 2 ./atomic-starvation
 */
#include "reproducer.h"

enum { kRounds = 50 };

/* Process 0 raises a flag of process 1 by atomics; process 1 waits for it. */
static int flag_wrong(int poll_by_atomics) {
  const int64_t one = 1, none = 0;
  open_window(0, 4096);
  for (int round = 1; round <= kRounds && rank < 2; ++round) {
    int64_t flag = 0;
    if (rank == 0) {
      MPI_Fetch_and_op(&one, &flag, MPI_INT64_T, 1, 0, MPI_SUM, win);
      MPI_Win_flush(1, win);
      continue;
    }
    while (flag < round) {
      int there;
      if (poll_by_atomics) {
        MPI_Fetch_and_op(&none, &flag, MPI_INT64_T, 1, 0, MPI_NO_OP, win);
        MPI_Win_flush(1, win);
        continue;
      }
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      MPI_Win_sync(win);
      flag = *(volatile int64_t *)memory;
    }
  }
  meet();
  const int wrong = rank == 1 && memory[0] != kRounds;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(flag_wrong(0));
  return verdict(flag_wrong(1));
}
