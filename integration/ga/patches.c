/* Regular and irregular distributions; put, get, accumulate and strided transfers of random patches, against a serial
 * model that every process keeps: all draw the same operations, each performs those that are its turn. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { ROWS = 37, COLUMNS = 53, OPERATIONS = 120, SKIP = 3 };

static int dims[2] = {ROWS, COLUMNS};

static void compare(int array, const double* model) {
  double* whole = malloc(sizeof(double) * ROWS * COLUMNS);
  int lo[2] = {0, 0};
  int hi[2] = {ROWS - 1, COLUMNS - 1};
  int ld[1] = {COLUMNS};
  GA_Sync();
  NGA_Get(array, lo, hi, whole, ld);
  CHECK(memcmp(whole, model, sizeof(double) * ROWS * COLUMNS) == 0);
  GA_Sync();
  free(whole);
}

/* Each element belongs to the process that says so, and to no other. */
static void check_distribution(int array) {
  long elements = 0;
  for (int process = 0; process < GA_Nnodes(); ++process) {
    int lo[2], hi[2];
    NGA_Distribution(array, process, lo, hi);
    if (lo[0] < 0 || hi[0] < lo[0] || hi[1] < lo[1]) continue;
    elements += (long)(hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1);
    CHECK(NGA_Locate(array, lo) == process && NGA_Locate(array, hi) == process);
  }
  CHECK(elements == (long)ROWS * COLUMNS);
}

static void random_patches(int array, unsigned seed) {
  double* model = calloc(ROWS * COLUMNS, sizeof(double));
  double* buffer = malloc(sizeof(double) * ROWS * COLUMNS);
  unsigned state = seed;
  GA_Zero(array);
  for (int i = 0; i < OPERATIONS; ++i) {
    int lo[2], hi[2];
    draw_patch(&state, 2, dims, lo, hi);
    const int rows = hi[0] - lo[0] + 1, columns = hi[1] - lo[1] + 1;
    const int is_acc = draw(&state, 2);
    double alpha = 1 + draw(&state, 3);
    int ld[1] = {columns};
    for (int k = 0; k < rows * columns; ++k) buffer[k] = draw(&state, 1000);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        double* at = &model[(lo[0] + r) * COLUMNS + lo[1] + c];
        *at = is_acc ? *at + alpha * buffer[r * columns + c] : buffer[r * columns + c];
      }
    }
    if (i % GA_Nnodes() == GA_Nodeid()) {
      if (is_acc) {
        NGA_Acc(array, lo, hi, buffer, ld, &alpha);
      } else {
        NGA_Put(array, lo, hi, buffer, ld);
      }
    }
    GA_Sync();
    memset(buffer, -1, sizeof(double) * (size_t)rows * (size_t)columns);
    NGA_Get(array, lo, hi, buffer, ld);
    for (int r = 0; r < rows; ++r) {
      CHECK(memcmp(&buffer[r * columns], &model[(lo[0] + r) * COLUMNS + lo[1]], sizeof(double) * (size_t)columns) == 0);
    }
    GA_Sync();
  }
  compare(array, model);
  free(model);
  free(buffer);
}

/* All processes add to the same patch at once: the sum does not depend on the order. */
static void accumulate_at_once(int array) {
  double* model = calloc(ROWS * COLUMNS, sizeof(double));
  double* buffer = malloc(sizeof(double) * ROWS * COLUMNS);
  int lo[2] = {1, 2};
  int hi[2] = {ROWS - 2, COLUMNS - 3};
  const int columns = hi[1] - lo[1] + 1;
  int ld[1] = {columns};
  double alpha = 2;
  for (int k = 0; k < ROWS * COLUMNS; ++k) buffer[k] = k % 17;
  for (int r = lo[0]; r <= hi[0]; ++r) {
    for (int c = lo[1]; c <= hi[1]; ++c) {
      model[r * COLUMNS + c] = 5 * alpha * GA_Nnodes() * buffer[(r - lo[0]) * columns + c - lo[1]];
    }
  }
  GA_Zero(array);
  for (int i = 0; i < 5; ++i) NGA_Acc(array, lo, hi, buffer, ld, &alpha);
  compare(array, model);
  free(model);
  free(buffer);
}

/* Each third element in both directions. */
static void with_gaps(int array) {
  double* model = calloc(ROWS * COLUMNS, sizeof(double));
  double* buffer = malloc(sizeof(double) * ROWS * COLUMNS);
  double* back = malloc(sizeof(double) * ROWS * COLUMNS);
  int lo[2] = {1, 1};
  int hi[2] = {1 + 11 * SKIP, 1 + 16 * SKIP};
  int skip[2] = {SKIP, SKIP};
  int ld[1] = {17};
  GA_Zero(array);
  for (int k = 0; k < 12 * 17; ++k) {
    buffer[k] = 100 + k;
    model[(lo[0] + k / 17 * SKIP) * COLUMNS + lo[1] + k % 17 * SKIP] = buffer[k];
  }
  if (GA_Nodeid() == GA_Nnodes() - 1) NGA_Strided_put(array, lo, hi, skip, buffer, ld);
  GA_Sync();
  NGA_Strided_get(array, lo, hi, skip, back, ld);
  CHECK(memcmp(buffer, back, sizeof(double) * 12 * 17) == 0);
  compare(array, model);
  free(model);
  free(buffer);
  free(back);
}

static void all_of(int array, unsigned seed) {
  CHECK(array != 0);
  check_distribution(array);
  random_patches(array, seed);
  accumulate_at_once(array);
  with_gaps(array);
  GA_Destroy(array);
}

/* Blocks of unequal height, one for each process. */
static int irregular(void) {
  const int processes = GA_Nnodes();
  int blocks[2] = {processes, 1};
  int* map = malloc(sizeof(int) * (size_t)(processes + 1));
  for (int i = 0; i < processes; ++i) map[i] = i == 0 ? 0 : 3 + i * i;
  map[processes] = 0;
  const int array = NGA_Create_irreg(C_DBL, 2, dims, "irregular", blocks, map);
  free(map);
  return array;
}

int main(int argc, char** argv) {
  int chunk[2] = {ROWS, -1}; /* whole columns */
  begin(&argc, &argv);
  all_of(NGA_Create(C_DBL, 2, dims, "regular", NULL), 1);
  all_of(NGA_Create(C_DBL, 2, dims, "columns", chunk), 2);
  all_of(irregular(), 3);
  return end("patches");
}
