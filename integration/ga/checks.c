#include "checks.h"

#include <mpi.h>
#include <stdio.h>

enum { TOLD_MOST = 5, STACK = 200000, HEAP = 2000000 };

static long checked = 0;
static long failed = 0;

void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  GA_Initialize();
  MA_init(C_DBL, STACK, HEAP);
}

void check_at(int ok, const char* file, int line, const char* what) {
  ++checked;
  if (ok) return;
  if (++failed <= TOLD_MOST) fprintf(stderr, "%s:%d: process %d: not so: %s\n", file, line, GA_Nodeid(), what);
}

int end(const char* name) {
  long counts[2] = {checked, failed};
  GA_Lgop(counts, 2, "+");
  if (GA_Nodeid() == 0) {
    if (counts[1] == 0) {
      printf("%s: PASS, %ld checks on %d processes\n", name, counts[0], GA_Nnodes());
    } else {
      printf("%s: FAIL, %ld of %ld checks on %d processes\n", name, counts[1], counts[0], GA_Nnodes());
    }
    fflush(stdout);
  }
  GA_Terminate();
  MPI_Finalize();
  return counts[1] == 0 && counts[0] > 0 ? 0 : 1;
}

int draw(unsigned* state, int bound) {
  *state = *state * 1664525u + 1013904223u;
  return (int)((*state >> 8) % (unsigned)bound);
}

void draw_patch(unsigned* state, int dimensions, const int* dims, int* lo, int* hi) {
  for (int i = 0; i < dimensions; ++i) {
    lo[i] = draw(state, dims[i]);
    hi[i] = lo[i] + draw(state, dims[i] - lo[i]);
  }
}
