/* win-allocate-concurrent: MPI_Win_allocate at the same time on disjoint communicators lets their windows share
 * memory, or aborts.
 *
 * Control: the same communicators, one after the other.
 *
 *   mpicc win-allocate-concurrent.c -o win-allocate-concurrent && mpiexec -n 4 ./win-allocate-concurrent
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

enum { kTrials = 20, kWords = 4096 };

/* A window of the half's own: what lies in it must be the half's. */
static int half_wrong(MPI_Comm half, int colour, int trial) {
  MPI_Win win;
  int64_t *memory = NULL;
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
  begin(&argc, &argv);
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
