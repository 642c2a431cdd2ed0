/* get-flush-local: MPI_Win_flush_local returns before the data of an MPI_Get has arrived when an MPI_Put followed
 * the get.
 *
 * Control: the same without the put.
 *
 *   mpicc get-flush-local.c -o get-flush-local && mpiexec -n 2 ./get-flush-local
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

enum { kWords = 256, kRounds = 1000 };

static long *memory;
static MPI_Win win;

/* Gets of words that are all 7, and a look at the buffer after the local flush. */
static int get_wrong(int with_put) {
  static long buffer[kWords];
  const long word = 7;
  int wrong = 0;
  for (int i = 0; i < kWords; ++i) memory[i] = 7;
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
  begin(&argc, &argv);
  memory = malloc(kWords * sizeof *memory);
  MPI_Win_create(memory, kWords * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(get_wrong(0));
  const int wrong = get_wrong(1);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(memory);
  return verdict(wrong);
}
