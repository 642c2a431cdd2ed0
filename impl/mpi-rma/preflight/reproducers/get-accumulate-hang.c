/* get-accumulate-hang: Contended MPI_Get_accumulate or MPI_Rget_accumulate with MPI_REPLACE hangs.
 *
 * Control: the same lock by MPI_Fetch_and_op.
 *
 * See open-mpi/ompi 14173: it takes two nodes with InfiniBand.
 *
 *   mpicc get-accumulate-hang.c -o get-accumulate-hang && mpiexec -n 4 ./get-accumulate-hang
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

enum { kDeadlineSeconds = 40 };

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

enum { kTurns = 200 };

/* Writes 1 into the lock of process 0 and says what was there. */
static int swap(int by_get_accumulate, int value) {
  int before = -1;
  if (by_get_accumulate) {
    MPI_Get_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
  } else {
    MPI_Fetch_and_op(&value, &before, MPI_INT, 0, 0, MPI_REPLACE, win);
  }
  MPI_Win_flush(0, win);
  return before;
}

/* A counter of process 0 that is read and written under the lock. */
static int lock_wrong(int by_get_accumulate) {
  open_window(0, 4096);
  for (int turn = 0; turn < kTurns; ++turn) {
    int64_t count = 0;
    while (swap(by_get_accumulate, 1) != 0) {
    }
    MPI_Get(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    ++count;
    MPI_Put(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    swap(by_get_accumulate, 0);
  }
  meet(win);
  const int wrong = rank == 0 && memory[8] != (int64_t)kTurns * size;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(lock_wrong(0));
  return verdict(lock_wrong(1));
}
