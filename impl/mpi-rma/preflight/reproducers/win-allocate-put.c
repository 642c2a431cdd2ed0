/* win-allocate-put: MPI_Put on memory of MPI_Win_allocate may store an element twice: an atomic operation in between is
 * lost.
 *
 * Control: the same under MPI_Win_create.
 *
 * The MPI standard does not make a put atomic against an accumulate; a program may rely on it only if the library does.
 *
 *   mpicc win-allocate-put.c -o win-allocate-put && mpiexec -n 2 ./win-allocate-put
 */
#include "reproducer.h"

enum { kSeconds = 5, kElements = 2048 };

/* Process 0 puts ever larger even numbers into all elements of its own memory, process 1 adds 1 to one and looks: what
 * it added to is not there again. */
static int sums_wrong(int allocated) {
  static int64_t numbers[kElements];
  const int64_t one = 1;
  int wrong = 0;
  open_window(allocated, sizeof numbers);
  const double end = MPI_Wtime() + kSeconds;
  for (int64_t put = 2; rank == 0 && MPI_Wtime() < end; put += 2) {
    for (int i = 0; i < kElements; ++i) numbers[i] = put;
    MPI_Put(numbers, kElements, MPI_INT64_T, 0, 0, kElements, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
  }
  int64_t before = 0, seen = 0;
  for (int i = 0; rank == 1 && MPI_Wtime() < end; i = (i + 1) % kElements) {
    const MPI_Aint at = i * (MPI_Aint)sizeof one;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, at, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Get(&seen, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    wrong |= before % 2 == 0 && seen == before;
  }
  meet();
  close_window(allocated);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  control(sums_wrong(0));
  return verdict(sums_wrong(1));
}
