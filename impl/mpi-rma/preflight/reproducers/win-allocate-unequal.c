/* win-allocate-unequal: MPI_Win_allocate with another size on each process gives wrong base addresses or moves
 * wrong data.
 *
 * Control: the same sizes under MPI_Win_create.
 *
 *   mpicc win-allocate-unequal.c -o win-allocate-unequal && mpiexec -n 4 ./win-allocate-unequal
 */
#include "reproducer.h"

enum { kTrials = 12, kWordsMax = 1 << 16 };

/* Every process fills its own memory, and reads that of all others; the sizes differ from process to process. */
static int window_wrong(const int *words) {
  static int64_t got[kWordsMax];
  int wrong = 0;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < words[rank]; ++i) memory[i] = 1000000 * (rank + 1) + i;
  meet();
  for (int target = 0; target < size; ++target) {
    memset(got, 0, sizeof got);
    if (words[target] > 0) MPI_Get(got, words[target], MPI_INT64_T, target, 0, words[target], MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < words[target]; ++i) wrong |= got[i] != 1000000 * (target + 1) + i;
  }
  meet();
  for (int i = 0; i < words[rank]; ++i) wrong |= memory[i] != 1000000 * (rank + 1) + i;
  MPI_Win_unlock_all(win);
  return wrong;
}

static void choose_sizes(int trial, int *words) {
  const int choices[] = {1, 0, 513, 7, kWordsMax, 4096, 100, 0, 30000};
  for (int r = 0; r < size; ++r) words[r] = choices[(trial + 2 * r) % 9];
}

int main(int argc, char **argv) {
  int wrong = 0;
  begin(&argc, &argv, 20);
  int *const words = malloc(size * sizeof(int));
  for (int trial = 0; trial < kTrials; ++trial) {
    choose_sizes(trial, words);
    memory = malloc(words[rank] * sizeof(int64_t) + 1);
    MPI_Win_create(memory, words[rank] * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    wrong |= window_wrong(words);
    MPI_Win_free(&win);
    free(memory);
  }
  control(wrong);
  for (int trial = 0; trial < kTrials; ++trial) {
    choose_sizes(trial, words);
    MPI_Win_allocate(words[rank] * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    wrong |= window_wrong(words);
    MPI_Win_free(&win);
  }
  return verdict(wrong);
}
