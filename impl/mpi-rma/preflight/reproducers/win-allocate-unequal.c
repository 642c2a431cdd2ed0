/* win-allocate-unequal: MPI_Win_allocate with another size on each process gives wrong base addresses or moves
 * wrong data.
 *
 * Control: the same sizes under MPI_Win_create.
 *
 *   mpicc win-allocate-unequal.c -o win-allocate-unequal && mpiexec -n 4 ./win-allocate-unequal
 *
 * Status 0: fault absent; 1: present; 2: the control fails. A process that crashes or runs into the alarm after
 * `control: ok` has met the fault as well.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kDeadlineSeconds = 20 };

static int rank, size, other;

static void begin(int *argc, char ***argv) {
  int provided;
  alarm(kDeadlineSeconds);
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  other = (rank + 1) % size;
}

/* True if it is true on any process. */
static int anywhere(int here) {
  MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return here;
}

static void say(const char *text) {
  if (rank == 0) puts(text);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The faulty path comes after it, so that its word is out if that ends the process. */
static void control(int wrong) {
  if (!anywhere(wrong)) {
    say("control: ok");
    return;
  }
  say("control: failed");
  MPI_Finalize();
  exit(2);
}

static int verdict(int wrong) {
  wrong = anywhere(wrong);
  say(wrong ? "fault: present" : "fault: absent");
  MPI_Finalize();
  return wrong;
}

/* Makes stores and remote accesses of both sides visible to each other. */
static void meet(MPI_Win win) {
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
}

enum { kTrials = 12, kWordsMax = 1 << 16 };

/* Every process fills its own memory, and reads that of all others; the sizes differ from process to process. */
static int window_wrong(MPI_Win win, int64_t *memory, const int *words) {
  static int64_t got[kWordsMax];
  int wrong = 0;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < words[rank]; ++i) memory[i] = 1000000 * (rank + 1) + i;
  meet(win);
  for (int target = 0; target < size; ++target) {
    memset(got, 0, sizeof got);
    if (words[target] > 0) MPI_Get(got, words[target], MPI_INT64_T, target, 0, words[target], MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < words[target]; ++i) wrong |= got[i] != 1000000 * (target + 1) + i;
  }
  meet(win);
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
  begin(&argc, &argv);
  int *const words = malloc(size * sizeof(int));
  for (int trial = 0; trial < kTrials; ++trial) {
    MPI_Win win;
    choose_sizes(trial, words);
    int64_t *const memory = malloc(words[rank] * sizeof(int64_t) + 1);
    MPI_Win_create(memory, words[rank] * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    wrong |= window_wrong(win, memory, words);
    MPI_Win_free(&win);
    free(memory);
  }
  control(wrong);
  for (int trial = 0; trial < kTrials; ++trial) {
    MPI_Win win;
    int64_t *memory = NULL;
    choose_sizes(trial, words);
    MPI_Win_allocate(words[rank] * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    wrong |= window_wrong(win, memory, words);
    MPI_Win_free(&win);
  }
  return verdict(wrong);
}
