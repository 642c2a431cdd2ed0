/* accumulate-flush: MPI_Accumulate is not in the target's memory after MPI_Win_flush.
 *
 * Control: MPI_Put(...) and MPI_Win_flush in the same way.
 *
 *   mpicc accumulate-flush.c -o accumulate-flush && mpiexec -n 2 ./accumulate-flush
 */
#include "reproducer.h"

enum { kRounds = 200, kWords = 256 };

/* After the flush the target gets a message and reads its memory. */
static int round_wrong(int accumulate, int round) {
  static int64_t words[kWords];
  int got = 0, wrong = 0;
  for (int i = 0; i < kWords; ++i) words[i] = accumulate ? 1 : round;
  if (accumulate) {
    MPI_Accumulate(words, kWords, MPI_INT64_T, other, 0, kWords, MPI_INT64_T, MPI_SUM, win);
  } else {
    MPI_Put(words, kWords, MPI_INT64_T, other, 0, kWords, MPI_INT64_T, win);
  }
  MPI_Win_flush(other, win);
  MPI_Sendrecv(&round, 1, MPI_INT, other, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_sync(win);
  for (int i = 0; i < kWords; ++i) wrong |= memory[i] < got;
  return wrong;
}

static int all_wrong(int accumulate) {
  int wrong = 0;
  open_window(0, kWords * sizeof(int64_t));
  for (int round = 1; round <= kRounds; ++round) wrong |= round_wrong(accumulate, round);
  meet();
  close_window(0);
  return wrong;
}

static const double kComputeSeconds = 0.5;
static const double kEarlySeconds = 0.25;

/* Process 1 calls nothing of MPI for a while. A flush of process 0 may wait for it; one that returns must be right. */
static int early_flush_wrong(void) {
  static int64_t words[kWords];
  double seconds = 0;
  int missing = 0;
  for (int i = 0; i < kWords; ++i) words[i] = 1;
  open_window(0, kWords * sizeof(int64_t));
  const double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Accumulate(words, kWords, MPI_INT64_T, 1, 0, kWords, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(1, win);
    seconds = MPI_Wtime() - start;
  } else if (rank == 1) {
    while (MPI_Wtime() - start < kComputeSeconds) {
    }
    MPI_Win_sync(win);
    for (int i = 0; i < kWords; ++i) missing |= memory[i] != 1;
  }
  missing = anywhere(missing) && !anywhere(seconds > kEarlySeconds);
  meet();
  close_window(0);
  return missing;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(all_wrong(0));
  const int wrong = all_wrong(1);
  return verdict(early_flush_wrong() | wrong);
}
