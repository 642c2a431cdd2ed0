/* Threads at MPI_THREAD_MULTIPLE: each puts, gets, accumulates, takes tickets and locks, while one thread is in MPI. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"

enum { THREADS = 3, LENGTH = 256, ROUNDS = 40 };

/* The region of a process. */
struct part {
  long slot[THREADS][LENGTH]; /* stored by one thread of the process before */
  long sum[LENGTH];           /* accumulated by all */
  long tickets;
  long protected_count;
};

static int me, processes, next, before;
static struct part** parts;
static atomic_int wrong, next_thread;

static void expect(int ok, const char* fact) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "threads: process %d: not so: %s\n", me, fact);
}

static void count_under_lock(int owner) {
  long count = -1;
  ARMCI_Lock(0, owner);
  ARMCI_Get(&parts[owner]->protected_count, &count, sizeof count, owner);
  ++count;
  ARMCI_Put(&count, &parts[owner]->protected_count, sizeof count, owner);
  ARMCI_Fence(owner);
  ARMCI_Unlock(0, owner);
}

static void* transfer(void* unused) {
  (void)unused;
  const int thread = next_thread++;
  long values[LENGTH], got[LENGTH], ones[LENGTH], scale = 1, ticket = -1, last = -1;
  for (int i = 0; i < LENGTH; ++i) ones[i] = 1;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < LENGTH; ++i) values[i] = (long)(me * THREADS + thread) * 100000 + round * LENGTH + i;
    if (round % 2 == 0) {
      expect(ARMCI_Put(values, parts[next]->slot[thread], sizeof values, next) == 0, "a put");
    } else {
      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      ARMCI_NbPut(values, parts[next]->slot[thread], sizeof values, next, &handle);
      expect(ARMCI_Wait(&handle) == 0, "a wait");
    }
    ARMCI_Get(parts[next]->slot[thread], got, sizeof got, next);
    expect(memcmp(got, values, sizeof got) == 0, "a thread gets its own put");
    ARMCI_Acc(ARMCI_ACC_LNG, &scale, ones, parts[round % processes]->sum, sizeof ones, round % processes);
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, &parts[0]->tickets, 1, 0);
    expect(ticket > last, "tickets of a thread ascend");
    last = ticket;
    if (round % 4 == 0) count_under_lock((me + round) % processes);
  }
  ARMCI_AllFence();
  return NULL;
}

static void* send_around(void* comm) {
  for (int round = 0; round < ROUNDS; ++round) {
    int number = me + round, sum = 0;
    MPI_Sendrecv_replace(&number, 1, MPI_INT, next, round, before, round, *(MPI_Comm*)comm, MPI_STATUS_IGNORE);
    expect(number == before + round, "a message around the ring");
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm*)comm);
    expect(sum == processes * (processes - 1) / 2 + processes * round, "a sum of MPI");
  }
  return NULL;
}

static void check(void) {
  long sums = 0, counts = 0;
  for (int process = 0; process < processes; ++process) {
    struct part* const part = malloc(sizeof *part);
    ARMCI_Get(parts[process], part, sizeof *part, process);
    sums += part->sum[0];
    counts += part->protected_count;
    expect(part->sum[LENGTH - 1] == part->sum[0], "all elements have the same sum");
    if (process == 0) expect(part->tickets == (long)processes * THREADS * ROUNDS, "each ticket is given once");
    free(part);
  }
  expect(sums == (long)processes * THREADS * ROUNDS, "no accumulate is lost");
  expect(counts == (long)processes * THREADS * (ROUNDS / 4), "the mutexes protect the counts");
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  next = (me + 1) % processes;
  before = (me + processes - 1) % processes;
  parts = malloc(sizeof *parts * (size_t)processes);
  expect(provided == MPI_THREAD_MULTIPLE, "MPI provides MPI_THREAD_MULTIPLE");
  expect(ARMCI_Init_thread(MPI_THREAD_MULTIPLE) == 0, "ARMCI_Init_thread");
  expect(ARMCI_Malloc((void**)parts, sizeof(struct part)) == 0, "ARMCI_Malloc");
  expect(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  memset(parts[me], 0, sizeof(struct part));
  MPI_Comm of_thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &of_thread);
  ARMCI_Barrier();

  pthread_t threads[THREADS + 1];
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, transfer, NULL);
  pthread_create(&threads[THREADS], NULL, send_around, &of_thread);
  for (int i = 0; i <= THREADS; ++i) pthread_join(threads[i], NULL);
  ARMCI_Barrier();
  check();

  int all_wrong = wrong;
  MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&of_thread);
  ARMCI_Destroy_mutexes();
  ARMCI_Free(parts[me]);
  free(parts);
  ARMCI_Finalize();
  if (me == 0)
    printf("threads: %s, %d threads of %d processes\n", all_wrong == 0 ? "PASS" : "FAIL", THREADS + 1, processes);
  MPI_Finalize();
  return all_wrong != 0;
}
