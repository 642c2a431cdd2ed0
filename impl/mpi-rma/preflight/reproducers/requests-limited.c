/* requests-limited: The process ends at about 200,000 outstanding operations.
 *
 * Control: 1,000 operations before a flush.
 *
 * A library may have such a limit; it should wait for room and not end the process.
 *
 *   mpicc requests-limited.c -o requests-limited && mpiexec -n 2 ./requests-limited
 */
#include "reproducer.h"

enum { kWords = 1024 };

/* Single numbers with a gap on each side, so that no library can join them. */
static int gets_wrong(int count) {
  static int64_t got[kWords];
  int wrong = 0;
  open_window(0, kWords * sizeof(int64_t));
  for (int i = 0; i < kWords; ++i) memory[i] = rank + 5;
  meet();
  for (int i = 0; i < count && !wrong; ++i) {
    const int place = 2 * i % kWords;
    wrong |= MPI_Get(&got[place], 1, MPI_INT64_T, other, place * sizeof(int64_t), 1, MPI_INT64_T, win) != MPI_SUCCESS;
  }
  MPI_Win_flush(other, win);
  meet();
  for (int i = 0; i < kWords; i += 2) wrong |= got[i] != other + 5;
  close_window(0);
  return wrong;
}

/* The same by requests, which the program holds. */
static int request_gets_wrong(int count) {
  MPI_Request *const requests = malloc(count * sizeof(MPI_Request));
  int64_t *const got = malloc(count * sizeof(int64_t));
  int wrong = 0;
  open_window(0, kWords * sizeof(int64_t));
  for (int i = 0; i < kWords; ++i) memory[i] = rank + 5;
  meet();
  for (int i = 0; i < count && !wrong; ++i) {
    const MPI_Aint place = i % kWords * (MPI_Aint)sizeof(int64_t);
    wrong |= MPI_Rget(&got[i], 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win, &requests[i]) != MPI_SUCCESS;
  }
  if (!wrong) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count && !wrong; ++i) wrong |= got[i] != other + 5;
  meet();
  close_window(0);
  free(requests);
  free(got);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 60);
  control(gets_wrong(1000) | request_gets_wrong(1000));
  return verdict(gets_wrong(300000) | request_gets_wrong(300000));
}
