/* win-allocate-swap: MPI_Compare_and_swap on memory of MPI_Win_allocate ends the process with a segmentation
 * fault.
 *
 * Control: the same under MPI_Win_create.
 *
 *   mpicc win-allocate-swap.c -o win-allocate-swap && mpiexec -n 2 ./win-allocate-swap
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

/* One that does not match, one that does. */
static int swap_wrong(MPI_Datatype type, int bytes, MPI_Aint place) {
  const int64_t compare[] = {7, 0}, swap[] = {8, 99}, expected = 0;
  int64_t found = 0;
  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    int64_t before = -1;
    MPI_Compare_and_swap(&swap[i], &compare[i], &before, type, other, place, win);
    MPI_Win_flush(other, win);
    wrong |= memcmp(&before, &expected, bytes) != 0;
  }
  meet(win);
  memcpy(&found, (char *)memory + place, bytes);
  return wrong || found != 99;
}

static int all_widths_wrong(int allocated) {
  open_window(allocated, 4096);
  int wrong = swap_wrong(MPI_INT32_T, 4, 20);
  wrong |= swap_wrong(MPI_UINT32_T, 4, 28);
  wrong |= swap_wrong(MPI_INT64_T, 8, 40);
  wrong |= swap_wrong(MPI_UINT64_T, 8, 56);
  close_window(allocated);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(all_widths_wrong(0));
  return verdict(all_widths_wrong(1));
}
