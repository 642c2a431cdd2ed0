/* requests-limited: The process ends at about 200,000 outstanding operations.
 *
 * Control: 1,000 operations before a flush.
 *
 * A library may have such a limit; it should wait for room and not end the process.
 *
 *   mpicc requests-limited.c -o requests-limited && mpiexec -n 2 ./requests-limited
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

enum { kDeadlineSeconds = 60 };

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

enum { kWords = 1024 };

/* Single numbers with a gap on each side, so that nobody can join them. */
static int gets_wrong(int count) {
  static int64_t got[kWords];
  int wrong = 0;
  open_window(0, kWords * sizeof(int64_t));
  for (int i = 0; i < kWords; ++i) memory[i] = rank + 5;
  meet(win);
  for (int i = 0; i < count && !wrong; ++i) {
    const int place = 2 * i % kWords;
    wrong |= MPI_Get(&got[place], 1, MPI_INT64_T, other, place * sizeof(int64_t), 1, MPI_INT64_T, win) != MPI_SUCCESS;
  }
  MPI_Win_flush(other, win);
  meet(win);
  for (int i = 0; i < kWords; i += 2) wrong |= got[i] != other + 5;
  close_window(0);
  return wrong;
}

/* The same by requests, which the program holds. */
static int request_gets_wrong(int count) {
  MPI_Request *const requests = malloc(count * sizeof(MPI_Request));
  int64_t *const got = malloc(count * sizeof(int64_t));
  int wrong = 0;
  open_window(0, kWords * sizeof(int64_t));
  for (int i = 0; i < kWords; ++i) memory[i] = rank + 5;
  meet(win);
  for (int i = 0; i < count && !wrong; ++i) {
    const MPI_Aint place = i % kWords * (MPI_Aint)sizeof(int64_t);
    wrong |= MPI_Rget(&got[i], 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win, &requests[i]) != MPI_SUCCESS;
  }
  if (!wrong) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count && !wrong; ++i) wrong |= got[i] != other + 5;
  meet(win);
  close_window(0);
  free(requests);
  free(got);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(gets_wrong(1000) | request_gets_wrong(1000));
  return verdict(gets_wrong(300000) | request_gets_wrong(300000));
}
