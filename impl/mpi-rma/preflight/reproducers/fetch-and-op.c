/* fetch-and-op: MPI_Fetch_and_op on 4- or 8-byte integers under MPI_Win_create gives a wrong result or loses
 * updates.
 *
 * Control: the same sums by MPI_Accumulate, compared by the owner.
 *
 *   mpicc fetch-and-op.c -o fetch-and-op && mpiexec -n 2 ./fetch-and-op
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

enum { kAdds = 500 };

/* All add to one counter of process 0: each value may be fetched once. */
static int count_wrong(int allocated) {
  const int64_t one = 1;
  int64_t sum = 0;
  open_window(allocated, 4096);
  for (int i = 0; i < kAdds; ++i) {
    int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    sum += before;
  }
  meet(win);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t total = (int64_t)kAdds * size;
  const int wrong = sum != total * (total - 1) / 2 || (rank == 0 && memory[0] != total);
  close_window(allocated);
  return wrong;
}

static int sums_wrong(void) {
  const int64_t one = 1;
  open_window(0, 4096);
  for (int i = 0; i < kAdds; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(0, win);
  }
  meet(win);
  const int wrong = rank == 0 && memory[0] != (int64_t)kAdds * size;
  close_window(0);
  return wrong;
}

/* One word of four or eight bytes between others: replaced, added to, read. */
static int word_wrong(MPI_Datatype type, int bytes, MPI_Aint place) {
  int64_t operand[] = {41, 2, 0}, before[] = {-1, -1, -1}, found = 0;
  const int64_t expected[] = {0, 41, 43};
  const MPI_Op ops[] = {MPI_REPLACE, MPI_SUM, MPI_NO_OP};
  int wrong = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Fetch_and_op(&operand[i], &before[i], type, other, place, ops[i], win);
    MPI_Win_flush(other, win);
    wrong |= memcmp(&before[i], &expected[i], bytes) != 0;
  }
  meet(win);
  memcpy(&found, (char *)memory + place, bytes);
  return wrong || found != 43;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(sums_wrong());
  int wrong = count_wrong(0);
  open_window(0, 4096);
  wrong |= word_wrong(MPI_INT32_T, 4, 20);
  wrong |= word_wrong(MPI_UINT32_T, 4, 28);
  wrong |= word_wrong(MPI_INT64_T, 8, 40);
  wrong |= word_wrong(MPI_UINT64_T, 8, 56);
  close_window(0);
  return verdict(wrong);
}
