/* accumulate-indexed: MPI_Accumulate with an indexed type on either side loses or misplaces updates. The types begin at
 * their buffers; accumulate-displaced has those that do not.
 *
 * Control: the same numbers with contiguous types.
 *
 *   mpicc accumulate-indexed.c -o accumulate-indexed && mpiexec -n 2 ./accumulate-indexed
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

enum { kCountMax = 3000, kRoomWords = 2 * kCountMax + 32 };

/* `count` numbers and where they lie. Shape 0: contiguous. */
static MPI_Datatype make_type(int shape, int count, int *places) {
  static MPI_Aint displacements[kCountMax];
  MPI_Datatype type;
  for (int i = 0; i < count; ++i) {
    places[i] = shape == 0 ? i : i == 0 ? 0 : places[i - 1] + 1 + (i - 1) % 3;
    displacements[i] = places[i] * (MPI_Aint)sizeof(double);
  }
  if (shape == 0) {
    MPI_Type_contiguous(count, MPI_DOUBLE, &type);
  } else {
    MPI_Type_create_hindexed_block(count, 1, displacements, MPI_DOUBLE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

static double buffer[kRoomWords], expected[kRoomWords];
static double *memory;
static MPI_Win win;

static double value(int owner, int place) { return 1000 * (owner + 1) + place % 997; }

/* One transfer to or from the next process, and the comparison of all words, gaps as well. */
static int transfer_wrong(int shape_here, int shape_there, int count) {
  static int here[kCountMax], there[kCountMax];
  MPI_Datatype type_here = make_type(shape_here, count, here), type_there = make_type(shape_there, count, there);
  const int source = (rank + size - 1) % size;
  int wrong = 0;
  for (int i = 0; i < kRoomWords; ++i) {
    buffer[i] = value(rank, i);
    memory[i] = value(rank, i);
    expected[i] = value(rank, i);
  }
  meet(win);
  MPI_Accumulate(buffer, 1, type_here, other, 0, 1, type_there, MPI_SUM, win);
  MPI_Win_flush(other, win);
  meet(win);
  for (int i = 0; i < count; ++i) expected[there[i]] = value(source, here[i]) + value(rank, there[i]);
  wrong = memcmp(expected, memory, sizeof expected) != 0;
  meet(win);
  MPI_Type_free(&type_here);
  MPI_Type_free(&type_there);
  return wrong;
}

/* Shapes from `first` to `last` on both sides, four sizes. */
static int all_wrong(int first, int last) {
  const int counts[] = {1, 24, 360, 3000};
  int wrong = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int here = first; here <= last; ++here) {
      for (int there = first; there <= last; ++there) {
        for (int i = 0; i < 4; ++i) wrong |= transfer_wrong(here, there, counts[i]);
      }
    }
  }
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  memory = malloc(sizeof buffer);
  MPI_Win_create(memory, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(all_wrong(0, 0));
  const int wrong = all_wrong(0, 1);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(memory);
  return verdict(wrong);
}
