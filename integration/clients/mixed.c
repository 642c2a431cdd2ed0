/* A program that mixes collectives and messages of MPI with one-sided calls: a distributed histogram whose counts are
 * added one-sidedly, while the work is handed out and summed up by MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "armci.h"

enum { BINS = 64, SAMPLES = 2000, ROUNDS = 5 };

static void require(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "mixed: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int me = 0, processes = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  require(ARMCI_Init() == 0, "ARMCI_Init");

  void** parts = malloc(sizeof(void*) * (size_t)processes);
  require(ARMCI_Malloc(parts, BINS * sizeof(long)) == 0, "ARMCI_Malloc");
  long* const mine = parts[me];
  for (int i = 0; i < BINS; ++i) mine[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  long drawn[BINS] = {0};
  unsigned state = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    /* The seed goes round by messages, while others add. */
    int seed = me + round;
    MPI_Sendrecv_replace(&seed, 1, MPI_INT, (me + 1) % processes, round, (me + processes - 1) % processes, round,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state = (unsigned)seed * 2654435761u + 1;
    long counts[BINS] = {0}, one = 1;
    for (int i = 0; i < SAMPLES; ++i) {
      state = state * 1664525u + 1013904223u;
      ++counts[state >> 26];
    }
    for (int i = 0; i < BINS; ++i) drawn[i] += counts[i];
    require(ARMCI_Acc(ARMCI_ACC_LNG, &one, counts, parts[round % processes], sizeof counts, round % processes) == 0,
            "ARMCI_Acc");
    long total = 0;
    MPI_Allreduce(&counts[0], &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  ARMCI_AllFence();
  MPI_Barrier(MPI_COMM_WORLD);

  /* The counts of all processes add up to the numbers drawn. */
  long sum[BINS] = {0}, expected[BINS];
  for (int process = 0; process < processes; ++process) {
    long part[BINS];
    require(ARMCI_Get(parts[process], part, sizeof part, process) == 0, "ARMCI_Get");
    for (int i = 0; i < BINS; ++i) sum[i] += part[i];
  }
  MPI_Allreduce(drawn, expected, BINS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < BINS; ++i) wrong += sum[i] != expected[i];
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  ARMCI_Free(parts[me]);
  free(parts);
  ARMCI_Finalize();
  if (me == 0) printf("mixed: %s, %d bins over %d processes\n", wrong == 0 ? "PASS" : "FAIL", BINS, processes);
  MPI_Finalize();
  return wrong != 0;
}
