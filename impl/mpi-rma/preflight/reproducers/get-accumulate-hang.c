/* get-accumulate-hang: Contended MPI_Get_accumulate or MPI_Rget_accumulate with MPI_REPLACE hangs.
 *
 * Control: the same lock by MPI_Fetch_and_op.
 *
 * See open-mpi/ompi 14173: it takes two nodes with InfiniBand.
 *
 *   mpicc get-accumulate-hang.c -o get-accumulate-hang && mpiexec -n 4 ./get-accumulate-hang
 */
#include "reproducer.h"

enum { kTurns = 200 };

/* Writes 1 into the lock of process 0 and says what was there. */
static int swap(int by_get_accumulate, int value) {
  int before = -1;
  if (by_get_accumulate) {
    MPI_Get_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
  } else {
    MPI_Fetch_and_op(&value, &before, MPI_INT, 0, 0, MPI_REPLACE, win);
  }
  MPI_Win_flush(0, win);
  return before;
}

/* A counter of process 0 that is read and written under the lock. */
static int lock_wrong(int by_get_accumulate) {
  open_window(0, 4096);
  for (int turn = 0; turn < kTurns; ++turn) {
    int64_t count = 0;
    while (swap(by_get_accumulate, 1) != 0) {
    }
    MPI_Get(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    ++count;
    MPI_Put(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    swap(by_get_accumulate, 0);
  }
  meet();
  const int wrong = rank == 0 && memory[8] != (int64_t)kTurns * size;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  control(lock_wrong(0));
  return verdict(lock_wrong(1));
}
