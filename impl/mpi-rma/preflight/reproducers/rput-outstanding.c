/* rput-outstanding: The 255th outstanding MPI_Rput to one target ends the process.
 *
 * Control: 254 outstanding requests.
 *
 * See open-mpi/ompi 14192: osc/ucx of Open MPI 5.
 *
 *   mpicc rput-outstanding.c -o rput-outstanding && mpiexec -n 2 ./rput-outstanding
 */
#include "reproducer.h"

enum { kRequestsMax = 2000 };

static int puts_wrong(int count) {
  static MPI_Request requests[kRequestsMax];
  static int64_t numbers[kRequestsMax];
  int wrong = 0;
  open_window(0, kRequestsMax * sizeof(int64_t));
  for (int i = 0; i < count; ++i) {
    numbers[i] = i + 1;
    MPI_Rput(&numbers[i], 1, MPI_INT64_T, other, i * sizeof(int64_t), 1, MPI_INT64_T, win, &requests[i]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush(other, win);
  meet();
  for (int i = 0; i < count; ++i) wrong |= memory[i] != i + 1;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(puts_wrong(254));
  int wrong = puts_wrong(255);
  wrong |= puts_wrong(kRequestsMax);
  return verdict(wrong);
}
