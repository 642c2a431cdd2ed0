/* get-flush-local: MPI_Win_flush_local returns before the data of an MPI_Get has arrived when an MPI_Put followed
 * the get.
 *
 * Control: the same without the put.
 *
 *   mpicc get-flush-local.c -o get-flush-local && mpiexec -n 2 ./get-flush-local
 */
#include "reproducer.h"

enum { kWords = 256, kRounds = 1000 };

static long *target_words;

/* Gets of words that are all 7, and a look at the buffer after the local flush. */
static int get_wrong(int with_put) {
  static long buffer[kWords];
  const long word = 7;
  int wrong = 0;
  for (int i = 0; i < kWords; ++i) target_words[i] = 7;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; rank == 0 && round < kRounds; ++round) {
    memset(buffer, 0, sizeof buffer);
    MPI_Get(buffer, kWords, MPI_LONG, other, 0, kWords, MPI_LONG, win);
    if (with_put) MPI_Put(&word, 1, MPI_LONG, other, 0, 1, MPI_LONG, win);
    MPI_Win_flush_local(other, win);
    for (int i = 0; i < kWords; ++i) wrong |= buffer[i] != 7;
    MPI_Win_flush(other, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  target_words = malloc(kWords * sizeof *target_words);
  create_window(target_words, kWords * sizeof *target_words);
  control(get_wrong(0));
  const int wrong = get_wrong(1);
  free_window();
  free(target_words);
  return verdict(wrong);
}
