/* atomic-starvation: A process that polls its own memory by MPI_Fetch_and_op keeps the atomics of others from it
 * for ever.
 *
 * Control: process 1 polls by loads, MPI_Win_sync and MPI_Iprobe.
 *
 *   mpicc atomic-starvation.c -o atomic-starvation && mpiexec -n 2 ./atomic-starvation
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
  meet(win);
  const int wrong = rank == 1 && memory[0] != kRounds;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(flag_wrong(0));
  return verdict(flag_wrong(1));
}
