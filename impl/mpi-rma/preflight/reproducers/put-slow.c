/* put-slow: MPI_Put and MPI_Win_flush take more than 1.5 times as long as MPI_Accumulate(MPI_REPLACE) and
 * MPI_Win_flush of the same bytes.
 *
 * Control: both move the same data.
 *
 *   mpicc put-slow.c -o put-slow && mpiexec -n 2 ./put-slow
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

enum { kRunBytes = 8192, kTurns = 200 };

static char data[kRunBytes];
static char *memory;
static MPI_Win win;

static int by_time(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The better quarter of many turns, in seconds. */
static double quartile(double *seconds) {
  qsort(seconds, kTurns, sizeof *seconds, by_time);
  return seconds[kTurns / 4];
}

static void put(int target, int bytes) {
  MPI_Put(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static void replace(int target, int bytes) {
  MPI_Accumulate(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, MPI_REPLACE, win);
  MPI_Win_flush(target, win);
}

static int data_wrong(void) {
  int wrong = 0;
  for (int i = 0; i < kRunBytes; ++i) data[i] = (char)(i % 251 + 1);
  put(rank, kRunBytes);
  MPI_Win_sync(win);
  wrong |= memcmp(data, memory, kRunBytes) != 0;
  memset(memory, 0, kRunBytes);
  MPI_Win_sync(win);
  replace(rank, kRunBytes);
  MPI_Win_sync(win);
  wrong |= memcmp(data, memory, kRunBytes) != 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

static int slow_at(int bytes) {
  static double puts[kTurns], accumulates[kTurns];
  for (int i = 0; i < kTurns; ++i) {
    const double start = MPI_Wtime();
    put(other, bytes);
    const double middle = MPI_Wtime();
    replace(other, bytes);
    puts[i] = middle - start;
    accumulates[i] = MPI_Wtime() - middle;
  }
  const double usual = quartile(puts), better = quartile(accumulates);
  printf("%d bytes: put %.1f us, accumulate %.1f us\n", bytes, usual * 1e6, better * 1e6);
  return usual > 1.5 * better;
}

static int too_slow(void) {
  const int small = slow_at(8);
  return slow_at(kRunBytes) && small;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  memory = calloc(1, kRunBytes);
  MPI_Win_create(memory, kRunBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(data_wrong());
  const int slow = rank == 0 && too_slow();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(memory);
  return verdict(slow);
}
