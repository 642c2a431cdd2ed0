/* win-allocate-put: MPI_Put on memory of MPI_Win_allocate may store an element twice: an atomic operation in between is
 * lost.
 *
 * Control: the same under MPI_Win_create.
 *
 * The MPI standard does not make a put atomic against an accumulate; a program may rely on it only if the library does.
 *
 *   mpicc win-allocate-put.c -o win-allocate-put && mpiexec -n 2 ./win-allocate-put
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

enum { kSeconds = 5, kElements = 2048 };

/* Process 0 puts ever larger even numbers into all elements of its own memory, process 1 adds 1 to one and looks: what
 * it added to is not there again. */
static int sums_wrong(int allocated) {
  static int64_t numbers[kElements];
  const int64_t one = 1;
  int wrong = 0;
  open_window(allocated, sizeof numbers);
  const double end = MPI_Wtime() + kSeconds;
  for (int64_t put = 2; rank == 0 && MPI_Wtime() < end; put += 2) {
    for (int i = 0; i < kElements; ++i) numbers[i] = put;
    MPI_Put(numbers, kElements, MPI_INT64_T, 0, 0, kElements, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
  }
  int64_t before = 0, seen = 0;
  for (int i = 0; rank == 1 && MPI_Wtime() < end; i = (i + 1) % kElements) {
    const MPI_Aint at = i * (MPI_Aint)sizeof one;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, at, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Get(&seen, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    wrong |= before % 2 == 0 && seen == before;
  }
  meet(win);
  close_window(allocated);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(sums_wrong(0));
  return verdict(sums_wrong(1));
}
