/* accumulate-flush: MPI_Accumulate is not in the target's memory after MPI_Win_flush.
 *
 * Control: MPI_Put(...) and MPI_Win_flush in the same way.
 *
 *   mpicc accumulate-flush.c -o accumulate-flush && mpiexec -n 2 ./accumulate-flush
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

static MPI_Win win;
static int64_t *memory;

static void open_window(int allocated, MPI_Aint bytes) {
  if (allocated) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  } else {
    memory = malloc(bytes);
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  }
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  memset(memory, 0, bytes);
  MPI_Win_lock_all(0, win);
  meet(win);
}

static void close_window(int allocated) {
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  if (!allocated) free(memory);
}

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
  meet(win);
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
  meet(win);
  close_window(0);
  return missing;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(all_wrong(0));
  const int wrong = all_wrong(1);
  return verdict(early_flush_wrong() | wrong);
}
