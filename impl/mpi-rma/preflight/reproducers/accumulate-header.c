/* accumulate-header: MPI_Accumulate with a type of very many irregular segments ends the process: its description
 * does not fit.
 *
 * Control: the same with 16 segments.
 *
 * See pmodels/mpich 7886: it takes InfiniBand.
 *
 *   mpicc accumulate-header.c -o accumulate-header && mpiexec -n 2 ./accumulate-header
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

enum { kSegmentsMax = 131072 };

static int accumulate_wrong(int segments) {
  static int places[kSegmentsMax];
  static double ones[kSegmentsMax];
  MPI_Datatype type;
  int wrong = 0;
  for (int i = 0, place = 0; i < segments; ++i) {
    places[i] = place;
    place += 2 + i % 3;
    ones[i] = 1;
  }
  open_window(0, (MPI_Aint)sizeof(double) * 4 * kSegmentsMax);
  MPI_Type_create_indexed_block(segments, 1, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Accumulate(ones, segments, MPI_DOUBLE, other, 0, 1, type, MPI_SUM, win);
  MPI_Win_flush(other, win);
  meet(win);
  for (int i = 0; i < segments; ++i) wrong |= ((double *)memory)[places[i]] != 1;
  MPI_Type_free(&type);
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(accumulate_wrong(16));
  int wrong = accumulate_wrong(512);
  wrong |= accumulate_wrong(4096);
  wrong |= accumulate_wrong(kSegmentsMax);
  return verdict(wrong);
}
