/* datatype-rows: MPI_Put with a datatype on the origin takes more than 1.5 times as long as packing
 * the rows and putting them as one run of bytes.
 *
 * Control: both move the same data.
 *
 *   mpicc datatype-rows.c -o datatype-rows && mpiexec -n 2 ./datatype-rows
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

enum { kRows = 64, kRowBytes = 128, kRunBytes = kRows * kRowBytes, kTurns = 200 };

static char rows[2 * kRunBytes], packed[kRunBytes];
static char *memory;
static MPI_Win win;
static MPI_Datatype type;

static int by_time(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The better quarter of many turns, in seconds. */
static double quartile(double *seconds) {
  qsort(seconds, kTurns, sizeof *seconds, by_time);
  return seconds[kTurns / 4];
}

static void put_rows(int target) {
  MPI_Put(rows, 1, type, target, 0, kRunBytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static void put_packed(int target) {
  for (int i = 0; i < kRows; ++i) memcpy(packed + i * kRowBytes, rows + 2 * i * kRowBytes, kRowBytes);
  MPI_Put(packed, kRunBytes, MPI_BYTE, target, 0, kRunBytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static int data_wrong(void) {
  static char by_type[kRunBytes];
  MPI_Type_vector(kRows, kRowBytes, 2 * kRowBytes, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 2 * kRunBytes; ++i) rows[i] = (char)(i % 251 + 1);
  put_rows(rank);
  MPI_Win_sync(win);
  memcpy(by_type, memory, kRunBytes);
  memset(memory, 0, kRunBytes);
  MPI_Win_sync(win);
  put_packed(rank);
  MPI_Win_sync(win);
  const int wrong = memcmp(by_type, memory, kRunBytes) != 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

static int too_slow(void) {
  static double by_type[kTurns], by_packing[kTurns];
  for (int i = 0; i < kTurns; ++i) {
    const double start = MPI_Wtime();
    put_rows(other);
    const double middle = MPI_Wtime();
    put_packed(other);
    by_type[i] = middle - start;
    by_packing[i] = MPI_Wtime() - middle;
  }
  const double usual = quartile(by_type), better = quartile(by_packing);
  printf("datatype %.1f us, packed %.1f us\n", usual * 1e6, better * 1e6);
  return usual > 1.5 * better;
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
