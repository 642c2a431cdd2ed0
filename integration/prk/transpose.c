/* transpose - B += transposed A, then A += 1, both in blocks of columns.
 *
 * A process issues one non-blocking strided get to each process, then waits for them in turn.
 *
 * Run: mpirun -n 4 ./transpose ITERATIONS ORDER
 */
#include "prk.h"

/* Columns of B that are updated together. With a power of two as order all of them have the same places in a cache. */
enum { COLUMNS = 4 };

static long least(long a, long b) { return a < b ? a : b; }

/* b[j][column] += fetched[column][j] for the columns from `first` to before `end`. */
static void add_transposed(double *b, long order, const double *fetched, long width, long first, long end) {
  for (long strip = 0; strip < width; strip += COLUMNS) {
    const long last = least(strip + COLUMNS, width);
    for (long column = first; column < end; ++column) {
      for (long j = strip; j < last; ++j) b[j * order + column] += fetched[column * width + j];
    }
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "ITERATIONS ORDER";
  const long iterations = argument(argc, argv, 1, 1, LONG_MAX, usage);
  const long order = argument(argc, argv, 2, nproc, INT_MAX, usage);
  const long begin = begin_of(order, nproc, me), width = begin_of(order, nproc, me + 1) - begin;

  void **a_part = shared((size_t)(order * width) * sizeof(double)); /* a[j * order + i]: column begin + j, row i */
  double *a = a_part[me];
  double *b = allocate((size_t)(order * width) * sizeof(double));
  double *fetched =
      allocate((size_t)(order * width) * sizeof(double)); /* row by row: fetched[column * width + row - begin] */
  armci_hdl_t *handles = allocate((size_t)nproc * sizeof *handles);
  for (long j = 0; j < width; ++j) {
    for (long i = 0; i < order; ++i) a[j * order + i] = (double)order * (double)(begin + j) + (double)i;
  }
  double began = 0.0;
  for (long iteration = 0; iteration <= iterations; ++iteration) {
    begin_sweep(iteration, &began);
    for (int step = 0; step < nproc; ++step) {
      const int from = (me + step) % nproc; /* not all of the same one at once */
      const long first = begin_of(order, nproc, from), columns = begin_of(order, nproc, from + 1) - first;
      int src_stride = (int)((size_t)order * sizeof(double)), dst_stride = (int)((size_t)width * sizeof(double));
      int size[2] = {dst_stride, (int)columns};
      ARMCI_INIT_HANDLE(&handles[step]);
      check(ARMCI_NbGetS((double *)a_part[from] + begin, &src_stride, fetched + first * width, &dst_stride, size, 1,
                         from, &handles[step]),
            "ARMCI_NbGetS");
    }
    for (int step = 0; step < nproc; ++step) {
      const int from = (me + step) % nproc;
      check(ARMCI_Wait(&handles[step]), "ARMCI_Wait");
      add_transposed(b, order, fetched, width, begin_of(order, nproc, from), begin_of(order, nproc, from + 1));
    }
    ARMCI_Barrier(); /* all have read */
    for (long k = 0; k < order * width; ++k) a[k] += 1.0;
    ARMCI_Barrier();
  }
  const double average = greatest(MPI_Wtime() - began) / (double)iterations;
  const double added = (double)(iterations * (iterations + 1)) / 2;
  double error = 0.0;
  for (long j = 0; j < width; ++j) {
    for (long i = 0; i < order; ++i) {
      const double wanted = ((double)order * (double)i + (double)(begin + j)) * (double)(iterations + 1) + added;
      error += fabs(b[j * order + i] - wanted);
    }
  }
  armci_msg_dgop(&error, 1, "+");
  check(ARMCI_Free(a_part[me]), "ARMCI_Free");
  free(b);
  free(fetched);
  free(handles);
  free(a_part);
  return finish(error, 0.0, 1e-8, 2e-6 * sizeof(double) * (double)order * (double)order / average, "MB/s", average);
}
