/* win-allocate-concurrent: MPI_Win_allocate at the same time on disjoint communicators lets their windows share
 * memory, or aborts.
 *
 * Control: the same communicators, one after the other.
 *
 *   mpicc win-allocate-concurrent.c -o win-allocate-concurrent && mpiexec -n 4 ./win-allocate-concurrent
 */
#include "reproducer.h"

enum { kTrials = 20, kWords = 4096 };

/* A window of the half's own: what lies in it must be the half's. */
static int half_wrong(MPI_Comm half, int colour, int trial) {
  int wrong = 0;
  if (MPI_Win_allocate(kWords * sizeof(int64_t), 1, MPI_INFO_NULL, half, &memory, &win) != MPI_SUCCESS) return 1;
  for (int i = 0; i < kWords; ++i) memory[i] = 1000 * trial + 10 * rank + colour;
  MPI_Barrier(half);
  usleep(1000); /* time for the other half to write into memory that is not its own */
  for (int i = 0; i < kWords; ++i) wrong |= memory[i] != 1000 * trial + 10 * rank + colour;
  MPI_Barrier(half);
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char **argv) {
  int wrong = 0;
  MPI_Comm half;
  begin(&argc, &argv, 20);
  const int colour = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, colour, rank, &half);
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == colour) wrong |= half_wrong(half, colour, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  control(wrong);
  for (int trial = 0; trial < kTrials; ++trial) {
    MPI_Barrier(MPI_COMM_WORLD);
    wrong |= half_wrong(half, colour, trial);
  }
  MPI_Comm_free(&half);
  return verdict(wrong);
}
