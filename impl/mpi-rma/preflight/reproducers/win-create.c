/* win-create: Contiguous put, get or accumulate through MPI_Win_create over private memory moves wrong data, or
 * there is no such window.
 *
 * Control: the same numbers by a message.
 *
 *   mpicc win-create.c -o win-create && mpiexec -n 2 ./win-create
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

enum { kWords = 512 };

/* Puts, gets and accumulates kWords numbers at the target and compares; the window has three times as many. */
static int moves_wrong(MPI_Win win, int64_t *memory, int target, int alone, MPI_Aint base) {
  static int64_t given[kWords], got[kWords], ones[kWords];
  const MPI_Aint slot = kWords * sizeof(int64_t);
  int wrong = 0;
  for (int i = 0; i < kWords; ++i) {
    given[i] = 1000 * (rank + 1) + i;
    got[i] = 0;
    ones[i] = 1;
    memory[i] = 0;
    memory[kWords + i] = memory[2 * kWords + i] = given[i];
  }
  meet(win);
  wrong |= MPI_Put(given, kWords, MPI_INT64_T, target, base, kWords, MPI_INT64_T, win) != MPI_SUCCESS;
  wrong |= MPI_Get(got, kWords, MPI_INT64_T, target, base + slot, kWords, MPI_INT64_T, win) != MPI_SUCCESS;
  wrong |= MPI_Accumulate(ones, kWords, MPI_INT64_T, target, base + 2 * slot, kWords, MPI_INT64_T, MPI_SUM, win) !=
           MPI_SUCCESS;
  wrong |= MPI_Win_flush(target, win) != MPI_SUCCESS;
  meet(win);
  const int source = alone ? rank : (rank + size - 1) % size;
  for (int i = 0; i < kWords; ++i) {
    wrong |= memory[i] != 1000 * (source + 1) + i;
    wrong |= got[i] != 1000 * ((alone ? rank : target) + 1) + i;
    wrong |= memory[2 * kWords + i] != given[i] + 1;
  }
  return wrong;
}

/* The same amount of data by a message. */
static int messages_wrong(void) {
  static int64_t sent[kWords], got[kWords];
  int wrong = 0;
  for (int i = 0; i < kWords; ++i) sent[i] = 1000 * (rank + 1) + i;
  const int source = (rank + size - 1) % size;
  MPI_Sendrecv(sent, kWords, MPI_INT64_T, other, 0, got, kWords, MPI_INT64_T, source, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < kWords; ++i) wrong |= got[i] != 1000 * (source + 1) + i;
  return wrong;
}

/* A window over `comm` with `target` one of its ranks. */
static int window_wrong(MPI_Comm comm, int target) {
  const MPI_Aint bytes = 3 * kWords * sizeof(int64_t);
  int64_t *memory = NULL;
  MPI_Win win = MPI_WIN_NULL;
  int members;
  MPI_Comm_size(comm, &members);
  memory = malloc(bytes);
  if (anywhere(MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, comm, &win) != MPI_SUCCESS)) {
    if (rank == 0) puts("there is no such window");
    return 1;
  }
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  memset(memory, 0, bytes);
  const MPI_Aint base = 0;
  MPI_Win_lock_all(0, win);
  const int wrong = moves_wrong(win, memory, target, members == 1, base);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(memory);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(messages_wrong());
  int wrong = window_wrong(MPI_COMM_WORLD, other);
  return verdict(wrong);
}
