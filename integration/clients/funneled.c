/* Threads at MPI_THREAD_FUNNELED: worker threads compute on the memory of a region, and the main thread transfers the
 * rows between them. One process alone computes the same, to compare. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "armci.h"

enum { WORKERS = 2, ROWS = 8, COLUMNS = 64, STEPS = 50, EDGES = 2 };

typedef long row[COLUMNS];

static row* rows; /* of this process: an edge, ROWS, an edge */
static row* made;
static pthread_barrier_t steps;

/* Each row becomes the sum of its neighbours. */
static void* compute(void* number) {
  const int worker = (int)(long)number;
  for (int step = 0; step < STEPS; ++step) {
    pthread_barrier_wait(&steps); /* the edges are there */
    for (int i = 1 + worker; i <= ROWS; i += WORKERS)
      for (int j = 0; j < COLUMNS; ++j) made[i][j] = (rows[i - 1][j] + rows[i + 1][j]) % 1000003;
    pthread_barrier_wait(&steps); /* all rows are made */
    for (int i = 1 + worker; i <= ROWS; i += WORKERS)
      for (int j = 0; j < COLUMNS; ++j) rows[i][j] = made[i][j];
    pthread_barrier_wait(&steps); /* they may be sent */
  }
  return NULL;
}

/* The same by one process alone. */
static long expected_sum(int processes) {
  const int all = processes * ROWS;
  row *now = malloc(sizeof(row) * (size_t)all), *then = malloc(sizeof(row) * (size_t)all), *swap;
  for (int i = 0; i < all; ++i)
    for (int j = 0; j < COLUMNS; ++j) now[i][j] = i * COLUMNS + j;
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < all; ++i)
      for (int j = 0; j < COLUMNS; ++j) then[i][j] = (now[(i + all - 1) % all][j] + now[(i + 1) % all][j]) % 1000003;
    swap = now, now = then, then = swap;
  }
  long sum = 0;
  for (int i = 0; i < all; ++i)
    for (int j = 0; j < COLUMNS; ++j) sum += now[i][j] * (j + 1) * (i + 1);
  free(now);
  free(then);
  return sum;
}

int main(int argc, char** argv) {
  int provided = 0, me = 0, processes = 1, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  wrong += ARMCI_Init_thread(MPI_THREAD_FUNNELED) != 0;
  row** const parts = malloc(sizeof(row*) * (size_t)processes);
  wrong += ARMCI_Malloc((void**)parts, (ROWS + EDGES) * sizeof(row)) != 0;
  rows = parts[me];
  made = malloc((ROWS + EDGES) * sizeof(row));
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) rows[i + 1][j] = (me * ROWS + i) * COLUMNS + j;

  pthread_t workers[WORKERS];
  pthread_barrier_init(&steps, NULL, WORKERS + 1);
  for (long i = 0; i < WORKERS; ++i) pthread_create(&workers[i], NULL, compute, (void*)i);
  const int next = (me + 1) % processes, before = (me + processes - 1) % processes;
  for (int step = 0; step < STEPS; ++step) {
    ARMCI_Barrier(); /* no process still reads its edges */
    wrong += ARMCI_Put(rows[ROWS], parts[next][0], sizeof(row), next) != 0;
    wrong += ARMCI_Put(rows[1], parts[before][ROWS + 1], sizeof(row), before) != 0;
    ARMCI_Barrier();
    for (int phase = 0; phase < 3; ++phase) pthread_barrier_wait(&steps);
  }
  for (int i = 0; i < WORKERS; ++i) pthread_join(workers[i], NULL);

  long sum = 0;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) sum += rows[i + 1][j] * (j + 1) * (me * ROWS + i + 1);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  wrong += sum != expected_sum(processes);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ARMCI_Free(parts[me]);
  free(parts);
  free(made);
  ARMCI_Finalize();
  if (me == 0) printf("funneled: %s, %d workers of %d processes\n", wrong == 0 ? "PASS" : "FAIL", WORKERS, processes);
  MPI_Finalize();
  return wrong != 0;
}
