/* Patches of hundreds of kilobytes and megabytes, and thousands of elements in one call: past every length from which
 * an implementation takes another way between nodes. Each element's value follows from its place. */
#include <stdlib.h>

#include "checks.h"

enum { ROWS = 1200, COLUMNS = 1000, SCATTERED = 20000, MARGIN = 7 };

static int dims[2] = {ROWS, COLUMNS};

static double at(int row, int column) { return row * 10000.0 + column; }

/* Whether the patch holds `factor` times its values plus `more`. */
static int holds(const double* patch, const int* lo, const int* hi, double factor, double more) {
  for (int r = lo[0]; r <= hi[0]; ++r) {
    for (int c = lo[1]; c <= hi[1]; ++c) {
      if (*patch++ != factor * at(r, c) + more) return 0;
    }
  }
  return 1;
}

static void fill(double* patch, const int* lo, const int* hi) {
  for (int r = lo[0]; r <= hi[0]; ++r) {
    for (int c = lo[1]; c <= hi[1]; ++c) *patch++ = at(r, c);
  }
}

/* A stripe of columns for each process, across all owners; then all of it by every process. */
static void put_and_get(int array, double* buffer) {
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  int lo[2] = {0, COLUMNS * me / processes};
  int hi[2] = {ROWS - 1, COLUMNS * (me + 1) / processes - 1};
  int ld[1] = {hi[1] - lo[1] + 1};
  fill(buffer, lo, hi);
  NGA_Put(array, lo, hi, buffer, ld);
  GA_Sync();
  lo[1] = 0;
  hi[1] = COLUMNS - 1;
  ld[0] = COLUMNS;
  NGA_Get(array, lo, hi, buffer, ld);
  CHECK(holds(buffer, lo, hi, 1, 0));
  GA_Sync();
}

static void accumulate(int array, double* buffer) {
  const int processes = GA_Nnodes();
  int lo[2] = {MARGIN, MARGIN};
  int hi[2] = {ROWS - 1 - MARGIN, COLUMNS - 1 - MARGIN};
  int ld[1] = {hi[1] - lo[1] + 1};
  double alpha = 0.5;
  fill(buffer, lo, hi);
  NGA_Acc(array, lo, hi, buffer, ld, &alpha);
  GA_Sync();
  NGA_Get(array, lo, hi, buffer, ld);
  CHECK(holds(buffer, lo, hi, 1 + alpha * processes, 0));
  GA_Sync();
}

/* Two halves pending at once, waited for backwards. */
static void nonblocking(int array, double* buffer) {
  int ld[1] = {COLUMNS};
  ga_nbhdl_t handles[2];
  int lo[2][2] = {{0, 0}, {ROWS / 2, 0}};
  int hi[2][2] = {{ROWS / 2 - 1, COLUMNS - 1}, {ROWS - 1, COLUMNS - 1}};
  double* halves[2] = {buffer, buffer + (long)ROWS / 2 * COLUMNS};
  const int turn = GA_Nnodes() - 1;
  for (int i = 0; i < 2; ++i) fill(halves[i], lo[i], hi[i]);
  if (GA_Nodeid() == turn) {
    for (int i = 0; i < 2; ++i) NGA_NbPut(array, lo[i], hi[i], halves[i], ld, &handles[i]);
    for (int i = 1; i >= 0; --i) NGA_NbWait(&handles[i]);
  }
  GA_Sync();
  for (int i = 0; i < 2; ++i) NGA_NbGet(array, lo[i], hi[i], halves[i], ld, &handles[i]);
  for (int i = 1; i >= 0; --i) {
    NGA_NbWait(&handles[i]);
    CHECK(holds(halves[i], lo[i], hi[i], 1, 0));
  }
  GA_Sync();
}

/* Elements of all rows, a different share for each process. */
static void scattered(int array) {
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  const int mine = SCATTERED / processes;
  double* values = malloc(sizeof(double) * (size_t)mine);
  int* places = malloc(sizeof(int) * 2 * (size_t)mine);
  int** subscripts = malloc(sizeof(int*) * (size_t)mine);
  double one = 1;
  int right = 1;
  for (int i = 0; i < mine; ++i) {
    const int k = i * processes + me;
    subscripts[i] = &places[2 * i];
    subscripts[i][0] = k % ROWS;
    subscripts[i][1] = k / ROWS * 50 + k % 50;
    values[i] = at(k % ROWS, k / ROWS * 50 + k % 50) + 1;
  }
  NGA_Scatter(array, values, subscripts, mine);
  GA_Sync();
  NGA_Scatter_acc(array, values, subscripts, mine, &one);
  for (int i = 0; i < mine; ++i) values[i] = 0;
  NGA_Gather(array, values, subscripts, mine);
  for (int i = 0; i < mine; ++i) right &= values[i] == 2 * (at(subscripts[i][0], subscripts[i][1]) + 1);
  CHECK(right);
  GA_Sync();
  free(values);
  free(places);
  free(subscripts);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  double* buffer = malloc(sizeof(double) * ROWS * COLUMNS);
  const int array = NGA_Create(C_DBL, 2, dims, "large", NULL);
  put_and_get(array, buffer);
  accumulate(array, buffer);
  nonblocking(array, buffer);
  scattered(array);
  GA_Destroy(array);
  free(buffer);
  return end("large");
}
