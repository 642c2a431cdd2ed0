/* Scatter, gather and scatter-accumulate of single elements, of three types, against a serial model. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { ROWS = 40, COLUMNS = 31, COUNT = 200 };

static int dims[2] = {ROWS, COLUMNS};

/* Distinct places, a stretch of their own for each process. */
static void choose(int process, int processes, int (*places)[2]) {
  const int each = ROWS * COLUMNS / processes;
  for (int k = 0; k < COUNT; ++k) {
    const int at = process + processes * ((k * 11) % each);
    places[k][0] = at / COLUMNS % ROWS;
    places[k][1] = at % COLUMNS;
  }
}

static void point(int (*places)[2], int** pointers) {
  for (int k = 0; k < COUNT; ++k) pointers[k] = places[k];
}

static void doubles(void) {
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  const int array = NGA_Create(C_DBL, 2, dims, "doubles", NULL);
  int places[COUNT][2];
  int* pointers[COUNT];
  double values[COUNT], back[COUNT];
  double alpha = 3;
  GA_Zero(array);
  choose(me, processes, places);
  point(places, pointers);
  for (int k = 0; k < COUNT; ++k) values[k] = me * 1000 + k;
  NGA_Scatter(array, values, pointers, COUNT);
  GA_Sync();
  for (int other = 0; other < processes; ++other) {
    choose(other, processes, places);
    NGA_Gather(array, back, pointers, COUNT);
    for (int k = 0; k < COUNT; ++k) CHECK(back[k] == other * 1000 + k);
  }
  GA_Sync();
  choose(0, processes, places);
  for (int k = 0; k < COUNT; ++k) values[k] = k;
  NGA_Scatter_acc(array, values, pointers, COUNT, &alpha);
  GA_Sync();
  NGA_Gather(array, back, pointers, COUNT);
  for (int k = 0; k < COUNT; ++k) CHECK(back[k] == k + alpha * processes * k);
  GA_Sync();
  GA_Destroy(array);
}

static void integers(void) {
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  const int array = NGA_Create(C_INT, 2, dims, "integers", NULL);
  int places[COUNT][2];
  int* pointers[COUNT];
  int values[COUNT], back[COUNT];
  GA_Zero(array);
  choose(me, processes, places);
  point(places, pointers);
  for (int k = 0; k < COUNT; ++k) values[k] = -(me * 1000 + k);
  NGA_Scatter(array, values, pointers, COUNT);
  GA_Sync();
  choose((me + 1) % processes, processes, places);
  NGA_Gather(array, back, pointers, COUNT);
  for (int k = 0; k < COUNT; ++k) CHECK(back[k] == -((me + 1) % processes * 1000 + k));
  GA_Sync();
  GA_Destroy(array);
}

static void complexes(void) {
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  const int array = NGA_Create(C_DCPL, 2, dims, "complexes", NULL);
  int places[COUNT][2];
  int* pointers[COUNT];
  DoubleComplex values[COUNT], back[COUNT];
  GA_Zero(array);
  choose(me, processes, places);
  point(places, pointers);
  for (int k = 0; k < COUNT; ++k) {
    values[k].real = me;
    values[k].imag = k;
  }
  NGA_Scatter(array, values, pointers, COUNT);
  GA_Sync();
  choose(processes - 1 - me, processes, places);
  NGA_Gather(array, back, pointers, COUNT);
  for (int k = 0; k < COUNT; ++k) CHECK(back[k].real == processes - 1 - me && back[k].imag == k);
  GA_Sync();
  GA_Destroy(array);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  doubles();
  integers();
  complexes();
  return end("elements");
}
