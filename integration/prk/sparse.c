/* sparse - a sparse matrix times a vector: the matrix is that of a star of radius R on a square grid with periodic
 * edges.
 *
 * The points are numbered by their coordinates with the bits reversed, so that the columns of a row are far apart. Rows
 * and the vector are dealt out in blocks; a process issues one non-blocking get for each block, then waits for all.
 *
 * Run: mpirun -n 4 ./sparse ITERATIONS LOG2_SIZE RADIUS
 */
#include "prk.h"

static long reversed(long value, int bits) {
  long result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

static int ascending(const void *left, const void *right) {
  const long a = *(const long *)left, b = *(const long *)right;
  return (a > b) - (a < b);
}

/* Fills `count` rows from row `begin` on: their columns, ascending, and elements. */
static void fill_rows(long *column, double *element, long begin, long count, int log2_size, long radius) {
  const long side = 1L << log2_size, of_row = 4 * radius + 1;
  for (long row = 0; row < count; ++row) {
    const long point = reversed(begin + row, 2 * log2_size), x = point % side, y = point / side;
    long *at = column + row * of_row;
    *at++ = begin + row;
    for (long r = 1; r <= radius; ++r) {
      const long around[4][2] = {
          {(x + r) % side, y}, {(x - r + side) % side, y}, {x, (y + r) % side}, {x, (y - r + side) % side}};
      for (int k = 0; k < 4; ++k) *at++ = reversed(around[k][0] + around[k][1] * side, 2 * log2_size);
    }
    qsort(column + row * of_row, (size_t)of_row, sizeof(long), ascending);
    for (long k = row * of_row; k < (row + 1) * of_row; ++k) element[k] = 1.0 / (double)(column[k] + 1);
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "ITERATIONS LOG2_SIZE RADIUS";
  const long iterations = argument(argc, argv, 1, 1, LONG_MAX, usage);
  const int log2_size = (int)argument(argc, argv, 2, 2, 20, usage);
  const long radius = argument(argc, argv, 3, 0, 1L << 20, usage);
  const long side = 1L << log2_size, rows = side * side, of_row = 4 * radius + 1;
  if (side < 2 * radius + 1 || rows < nproc) ARMCI_Error("the grid is too small for the radius or the processes", 1);
  const long begin = begin_of(rows, nproc, me), mine = begin_of(rows, nproc, me + 1) - begin;

  void **part = shared((size_t)mine * sizeof(double));
  double *own = part[me];
  double *vector = allocate((size_t)rows * sizeof(double)), *result = allocate((size_t)mine * sizeof(double));
  long *column = allocate((size_t)(mine * of_row) * sizeof(long));
  double *element = allocate((size_t)(mine * of_row) * sizeof(double));
  fill_rows(column, element, begin, mine, log2_size, radius);
  double began = 0.0;
  for (long iteration = 0; iteration <= iterations; ++iteration) {
    begin_sweep(iteration, &began);
    for (long row = 0; row < mine; ++row) own[row] += (double)(begin + row + 1);
    ARMCI_Barrier();
    for (int step = 0; step < nproc; ++step) {
      const int from = (me + step) % nproc;
      const long first = begin_of(rows, nproc, from), count = begin_of(rows, nproc, from + 1) - first;
      check(ARMCI_NbGet(part[from], vector + first, (int)((size_t)count * sizeof(double)), from, NULL), "ARMCI_NbGet");
    }
    check(ARMCI_WaitAll(), "ARMCI_WaitAll");
    ARMCI_Barrier(); /* all have read */
    for (long row = 0; row < mine; ++row) {
      double sum = 0.0;
      for (long k = row * of_row; k < (row + 1) * of_row; ++k) sum += element[k] * vector[column[k]];
      result[row] += sum;
    }
  }
  const double average = greatest(MPI_Wtime() - began) / (double)iterations;
  double sum = 0.0;
  for (long row = 0; row < mine; ++row) sum += result[row];
  armci_msg_dgop(&sum, 1, "+");
  check(ARMCI_Free(part[me]), "ARMCI_Free");
  free(vector);
  free(result);
  free(column);
  free(element);
  free(part);
  const double entries = (double)rows * (double)of_row;
  const double wanted = 0.5 * entries * (double)(iterations + 1) * (double)(iterations + 2);
  return finish(sum / wanted, 1.0, 1e-8, 2e-6 * entries / average, "MFlops/s", average);
}
