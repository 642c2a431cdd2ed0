/* passive-progress: Operations that the network cannot do alone wait until their target calls MPI.
 *
 * Control: the same while the target waits inside MPI.
 *
 * The MPI standard allows it; asynchronous progress, where the library has it, is a setting.
 *
 *   mpicc passive-progress.c -o passive-progress && mpiexec -n 2 ./passive-progress
 */
#include "reproducer.h"

static const double kComputeSeconds = 0.5;
static const double kLateSeconds = 0.25;

enum { kWords = 4096 };

/* Process 0 accumulates to process 1 and flushes; process 1 computes, or waits in a barrier. */
static int stalls(int computing) {
  static int64_t words[kWords];
  double seconds = 0;
  open_window(0, (kWords + 1) * sizeof(int64_t));
  const double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Accumulate(words, kWords, MPI_INT64_T, 1, 0, kWords, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(1, win);
    seconds = MPI_Wtime() - start;
  } else if (computing) {
    while (MPI_Wtime() - start < kComputeSeconds) {
    }
  }
  meet();
  close_window(0);
  return seconds > kLateSeconds;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(stalls(0));
  return verdict(stalls(1));
}
