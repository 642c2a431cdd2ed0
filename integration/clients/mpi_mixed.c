/* MPI of several kinds around one-sided calls: receives that stay open, collectives of one half of the processes, a
 * window of the program, communicators that are made while stores are pending, and a file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"

enum { LENGTH = 512, ROUNDS = 20, OPEN_TAG = 7 };

static int me, processes, next, before, wrong;
static long** parts; /* of each process LENGTH numbers, a counter and a ticket */
static const size_t kBytes = (LENGTH + 2) * sizeof(long);

static void expect(int ok, const char* fact) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "mpi_mixed: process %d: not so: %s\n", me, fact);
}

/* Receives are open on two communicators, from any process and of any tag, while the process waits in the library. */
static void receive_while_waiting(void) {
  MPI_Comm duplicate;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  for (int round = 0; round < ROUNDS; ++round) {
    int of_world = -1, of_duplicate = -1;
    const int mine = me * ROUNDS + round;
    MPI_Request open[2];
    MPI_Irecv(&of_world, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &open[0]);
    MPI_Irecv(&of_duplicate, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, duplicate, &open[1]);
    const long value = mine;
    ARMCI_Put((void*)&value, parts[next], sizeof value, next);
    ARMCI_Barrier();
    long got = -1;
    ARMCI_Get(parts[next], &got, sizeof got, next);
    expect(got == value, "a get has the value of the put");
    ARMCI_Lock(0, 0);
    ARMCI_Get(&parts[0][LENGTH], &got, sizeof got, 0);
    ++got;
    ARMCI_Put(&got, &parts[0][LENGTH], sizeof got, 0);
    ARMCI_Fence(0);
    ARMCI_Unlock(0, 0);
    ARMCI_Barrier();
    MPI_Send(&mine, 1, MPI_INT, next, OPEN_TAG, MPI_COMM_WORLD);
    MPI_Send(&mine, 1, MPI_INT, next, OPEN_TAG, duplicate);
    for (int i = 0; i < 2; ++i) MPI_Wait(&open[i], MPI_STATUS_IGNORE);
    expect(of_world == before * ROUNDS + round && of_duplicate == of_world,
           "open receives have the program's messages");
  }
  MPI_Comm_free(&duplicate);
  ARMCI_Barrier();
  if (me == 0) expect(parts[0][LENGTH] == (long)ROUNDS * processes, "the mutex protects the counter");
}

/* The even processes are in collectives of their own, while the odd ones store to them, and take tickets. */
static void collectives_of_one_half(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  if (me % 2 == 0) {
    for (int round = 0; round < ROUNDS; ++round) {
      int sum = 0, one = 1, members = 0;
      MPI_Comm_size(half, &members);
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
      MPI_Bcast(&sum, 1, MPI_INT, 0, half);
      expect(sum == members, "a sum over one half");
    }
  } else {
    long scale = 1, ones[LENGTH], ticket = -1;
    for (int i = 0; i < LENGTH; ++i) ones[i] = 1;
    for (int round = 0; round < ROUNDS; ++round) {
      ARMCI_Acc(ARMCI_ACC_LNG, &scale, ones, parts[before], sizeof ones, before);
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, &parts[0][LENGTH + 1], 1, 0);
      expect(ticket >= 0 && ticket < (long)ROUNDS * processes, "a ticket of the counter");
    }
  }
  MPI_Comm_free(&half);
  ARMCI_Barrier();
  const long stored = me % 2 == 0 && me + 1 < processes ? ROUNDS : 0;
  expect(parts[me][0] == stored && parts[me][LENGTH - 1] == stored, "accumulates from the other half");
  if (me == 0) expect(parts[0][LENGTH + 1] == (long)ROUNDS * (processes / 2), "each ticket is given once");
  ARMCI_Barrier();
}

/* A window of the program, beside the regions of the library. */
static void window_beside_regions(void) {
  long* const memory = calloc(LENGTH, sizeof(long));
  MPI_Win window;
  MPI_Win_create(memory, LENGTH * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int round = 0; round < ROUNDS; ++round) {
    long by_mpi = 1000 + me, by_armci = 2000 + me;
    MPI_Put(&by_mpi, 1, MPI_LONG, next, round, 1, MPI_LONG, window);
    ARMCI_Put(&by_armci, &parts[next][round], sizeof by_armci, next);
    MPI_Win_fence(0, window);
    ARMCI_Barrier();
    expect(memory[round] == 1000 + before, "a put of MPI");
    expect(parts[me][round] == 2000 + before, "a put of the library beside it");
  }
  MPI_Win_free(&window);
  free(memory);
}

/* Communicators are made and freed while stores are pending. */
static void split_while_pending(void) {
  long values[LENGTH];
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < LENGTH; ++i) values[i] = (long)round * 1000000 + me * LENGTH + i;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_NbPut(values, parts[next], sizeof values, next, &handle);
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, (me + round) % 2, -me, &made);
    MPI_Barrier(made);
    ARMCI_Wait(&handle);
    MPI_Comm_free(&made);
    ARMCI_Barrier();
    int same = 1;
    for (int i = 0; i < LENGTH; ++i) same &= parts[me][i] == (long)round * 1000000 + before * LENGTH + i;
    expect(same, "stores that were pending during MPI_Comm_split");
    ARMCI_Barrier();
  }
}

/* Each process writes its part of a file from its region, and the next one reads it while stores go on. */
static void file_beside_stores(const char* program) {
  char name[4096] = "";
  if (me == 0) snprintf(name, sizeof name, "%.4000s.%08x.data", program, (unsigned)(MPI_Wtime() * 1e4));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File file;
  int opened = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file);
  expect(opened == MPI_SUCCESS, "MPI_File_open");
  if (opened != MPI_SUCCESS) return;
  const MPI_Offset bytes = LENGTH * sizeof(long);
  long read[LENGTH], ticket = -1;
  MPI_File_write_at_all(file, me * bytes, parts[me], LENGTH, MPI_LONG, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, &parts[next][LENGTH + 1], 1, next);
  MPI_File_read_at_all(file, next * bytes, read, LENGTH, MPI_LONG, MPI_STATUS_IGNORE);
  long got[LENGTH];
  ARMCI_Get(parts[next], got, sizeof got, next);
  expect(memcmp(read, got, sizeof got) == 0, "the file has the neighbour's numbers");
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  next = (me + 1) % processes;
  before = (me + processes - 1) % processes;
  parts = malloc(sizeof(long*) * (size_t)processes);
  expect(ARMCI_Init() == 0, "ARMCI_Init");
  expect(ARMCI_Malloc((void**)parts, (long)kBytes) == 0, "ARMCI_Malloc");
  expect(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  memset(parts[me], 0, kBytes);
  ARMCI_Barrier();

  receive_while_waiting();
  memset(parts[me], 0, kBytes);
  ARMCI_Barrier();
  collectives_of_one_half();
  window_beside_regions();
  split_while_pending();
  file_beside_stores(argv[0]);

  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ARMCI_Destroy_mutexes();
  ARMCI_Free(parts[me]);
  free(parts);
  ARMCI_Finalize();
  if (me == 0) printf("mpi_mixed: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", processes);
  MPI_Finalize();
  return wrong != 0;
}
