/* displacement-32bit: Displacements of 2 GiB and more are cut to 32 bits.
 *
 * Control: the same at displacements below 2 GiB.
 *
 *   mpicc displacement-32bit.c -o displacement-32bit && mpiexec -n 2 ./displacement-32bit
 *
 * Status 0: fault absent; 1: present; 2: the control fails. A process that crashes or runs into the alarm after
 * `control: ok` has met the fault as well.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Memory that is reserved and hardly touched: the places are 1 GiB apart. */
static const MPI_Aint kGibibyte = (MPI_Aint)1 << 30;

static int place_wrong(MPI_Win win, char *memory, MPI_Aint place) {
  int64_t given = 77 + rank, got = -1;
  const int64_t one = 1;
  *(int64_t *)(memory + place) = 5;
  meet(win);
  MPI_Put(&given, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win);
  MPI_Win_flush(other, win);
  MPI_Accumulate(&one, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush(other, win);
  MPI_Get(&got, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win);
  MPI_Win_flush(other, win);
  meet(win);
  return got != given + 1 || *(int64_t *)(memory + place) != 77 + (rank + size - 1) % size + 1;
}

int main(int argc, char **argv) {
  const MPI_Aint bytes = 5 * kGibibyte;
  MPI_Win win;
  int wrong;
  begin(&argc, &argv);
  char *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  wrong = place_wrong(win, memory, 0);
  wrong |= place_wrong(win, memory, kGibibyte + 8);
  control(wrong);
  wrong |= place_wrong(win, memory, 2 * kGibibyte + 8);
  wrong |= place_wrong(win, memory, 3 * kGibibyte + 8);
  wrong |= place_wrong(win, memory, 4 * kGibibyte + 16);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  munmap(memory, bytes);
  return verdict(wrong);
}
