/* Shared by the kernels: arguments, memory, time, and the verdict in the words that the originals use. */
#ifndef ARMCI_INTEGRATION_PRK_H_
#define ARMCI_INTEGRATION_PRK_H_

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"
#include "message.h"

static int me, nproc;

static inline void check(int code, const char *call) {
  if (code != 0) ARMCI_Error(call, code);
}

/* Ends the job with the usage unless argument `index` is a number of at least `least` and at most `most`. */
static inline long argument(int argc, char **argv, int index, long least, long most, const char *usage) {
  char *end = NULL;
  errno = 0;
  const long value = index < argc ? strtol(argv[index], &end, 10) : 0;
  if (index >= argc || *end != '\0' || errno != 0 || value < least || value > most) {
    if (me == 0) fprintf(stderr, "usage: %s %s\n", argv[0], usage);
    armci_msg_barrier(); /* the usage is printed before a process ends the job */
    ARMCI_Error("wrong arguments", 1);
  }
  return value;
}

static inline void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) ARMCI_Error("no memory", 1);
  return memory;
}

/* Memory of each process that all may address, zero at first; ARMCI_Free(part[me]) ends it. */
static inline void **shared(size_t bytes) {
  void **part = allocate((size_t)nproc * sizeof *part);
  check(ARMCI_Malloc(part, (armci_size_t)bytes), "ARMCI_Malloc");
  if (bytes > 0) memset(part[me], 0, bytes);
  ARMCI_Barrier();
  return part;
}

/* Part `index` of `total` things dealt out in blocks: where it begins; index == parts gives the end. */
static inline long begin_of(long total, int parts, int index) {
  return total / parts * index + (index < total % parts ? index : total % parts);
}

static inline void start(int *argc, char ***argv) {
  check(ARMCI_Init_args(argc, argv), "ARMCI_Init_args");
  me = armci_msg_me();
  nproc = armci_msg_nproc();
}

/* At the beginning of each sweep: the first one warms up, and *began is when the second begins. Collective in those
 * two. */
static inline void begin_sweep(long sweep, double *began) {
  if (sweep > 1) return;
  ARMCI_Barrier();
  *began = MPI_Wtime();
}

/* Returns the greatest value of all processes. Collective. */
static inline double greatest(double seconds) {
  armci_msg_dgop(&seconds, 1, "max");
  return seconds;
}

/* Prints the verdict and the rate on process 0, ends the library, and returns the exit status. */
static inline int finish(double got, double wanted, double tolerance, double rate, const char *unit, double average) {
  const int right = fabs(got - wanted) <= tolerance;
  if (me == 0) {
    if (right) {
      printf("Solution validates\nRate (%s): %f Avg time (s): %f\n", unit, rate, average);
    } else {
      printf("ERROR: %.17g, not %.17g\n", got, wanted);
    }
    fflush(stdout);
  }
  check(ARMCI_Finalize(), "ARMCI_Finalize");
  return right ? 0 : 1;
}

#endif
