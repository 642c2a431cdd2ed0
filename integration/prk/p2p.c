/* p2p - a pipeline over the columns of a grid: each row of a process waits for the element at its left.
 *
 *   a(i,j) = a(i-1,j) + a(i,j-1) - a(i-1,j-1), with a(i,0) = i and a(0,j) = j; after each sweep a(0,0) = -a(m-1,n-1).
 *
 * Process p has a block of columns i. It puts the element beside its block into the neighbour's memory, and notifies
 * it. The put need not end first: the notification follows it. The last process puts the corner into process 0 and
 * notifies it. Process 0 starts the next sweep only then, so no put overwrites an element that its target has not read.
 *
 * Run: mpirun -n 4 ./p2p ITERATIONS M N
 */
#include "prk.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "ITERATIONS M N";
  const long iterations = argument(argc, argv, 1, 1, LONG_MAX, usage);
  const long m = argument(argc, argv, 2, nproc + 1, INT_MAX, usage);
  const long n = argument(argc, argv, 3, 2, INT_MAX, usage);
  const long begin = begin_of(m, nproc, me), width = begin_of(m, nproc, me + 1) - begin;

  /* Written by others: the elements at the left of the block, and in process 0 the corner behind them. */
  void **shared_part = shared((size_t)(n + 1) * sizeof(double));
  double *left = shared_part[me];
  double *a = allocate((size_t)(width * n) * sizeof(double)); /* a[j * width + i] */
  for (long i = 0; i < width; ++i) a[i] = (double)(begin + i);
  if (me == 0) {
    for (long j = 0; j < n; ++j) a[j * width] = (double)j;
  } else {
    left[0] = (double)(begin - 1);
  }
  const int right = me + 1, last = nproc - 1;
  int count = 0;
  double began = 0.0;
  for (long iteration = 0; iteration <= iterations; ++iteration) {
    begin_sweep(iteration, &began);
    if (me == 0 && nproc > 1 && iteration > 0) {
      armci_notify_wait(last, &count);
      a[0] = left[n];
    }
    for (long j = 1; j < n; ++j) {
      double *row = a + j * width;
      const double *above = row - width;
      long i = 0;
      if (me > 0) {
        armci_notify_wait(me - 1, &count);
        row[0] = left[j] + above[0] - left[j - 1];
      }
      for (i = 1; i < width; ++i) row[i] = row[i - 1] + above[i] - above[i - 1];
      if (me < last) {
        check(ARMCI_NbPut(&row[width - 1], (double *)shared_part[right] + j, sizeof(double), right, NULL),
              "ARMCI_NbPut");
        armci_notify(right);
      }
    }
    const double corner = -a[n * width - 1];
    if (nproc == 1) {
      a[0] = corner;
    } else if (me == last) {
      check(ARMCI_NbPut((void *)&corner, (double *)shared_part[0] + n, sizeof(double), 0, NULL), "ARMCI_NbPut");
      armci_notify(0);
    }
    check(ARMCI_WaitAll(), "ARMCI_WaitAll");
  }
  if (me == 0 && nproc > 1) armci_notify_wait(last, &count);
  const double average = greatest(MPI_Wtime() - began) / (double)iterations;
  double corner = me == last ? a[n * width - 1] : 0.0;
  armci_msg_brdcst(&corner, sizeof corner, last);
  check(ARMCI_Free(shared_part[me]), "ARMCI_Free");
  free(a);
  free(shared_part);
  return finish(corner, (double)(iterations + 1) * (double)(m + n - 2), 1e-8,
                2e-6 * (double)((m - 1) * (n - 1)) / average, "MFlops/s", average);
}
