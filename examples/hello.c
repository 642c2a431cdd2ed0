/* hello - every process puts a greeting into the memory of the next one, which need not do anything for it.
 *
 * Run:    mpirun -n 4 ./hello
 * Prints: what each process found in its memory, then "hello: PASS ..." (exit status 0) or "hello: FAIL ..." (1).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"
#include "armcix.h"

enum { kBytes = 64 };

/* Every int call returns 0 on success; a program that cannot go on ends the whole job. */
static void check(int code, const char *call) {
  if (code != 0) ARMCI_Error(call, code);
}

int main(int argc, char **argv) {
  int me, nproc, p, wrong = 0;
  void **memory;

  MPI_Init(&argc, &argv);
  check(ARMCI_Init(), "ARMCI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);

  /* Collective: afterwards memory[p] is the address of the part of process p, on every process. */
  memory = malloc((size_t)nproc * sizeof(void *));
  if (memory == NULL) ARMCI_Error("malloc", 1);
  check(ARMCI_Malloc(memory, kBytes), "ARMCI_Malloc");

  int next = (me + 1) % nproc;
  char greeting[kBytes] = "";
  snprintf(greeting, sizeof greeting, "greetings from process %d to process %d", me, next);
  check(ARMCI_Put(greeting, memory[next], kBytes, next), "ARMCI_Put");

  /* Completes all stores of all processes: every process can read its own part, or any other, from here on. */
  ARMCI_Barrier();

  if (me == 0) {
    printf("hello: %d processes on the implementation \"%s\"\n", nproc, ARMCIX_Implementation());
    for (p = 0; p < nproc; ++p) {
      char found[kBytes], expected[kBytes] = "";
      snprintf(expected, sizeof expected, "greetings from process %d to process %d", (p + nproc - 1) % nproc, p);
      check(ARMCI_Get(memory[p], found, kBytes, p), "ARMCI_Get");
      if (memcmp(found, expected, kBytes) != 0) ++wrong;
      printf("hello: process %d has \"%.63s\"\n", p, found);
    }
    printf("hello: %s, %d of %d greetings arrived as sent\n", wrong == 0 ? "PASS" : "FAIL", nproc - wrong, nproc);
  }

  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(ARMCI_Free(memory[me]), "ARMCI_Free");
  free(memory);
  ARMCI_Finalize();
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
