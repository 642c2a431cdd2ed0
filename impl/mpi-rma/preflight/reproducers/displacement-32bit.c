/* displacement-32bit: Displacements of 2 GiB and more are cut to 32 bits.
 *
 * Control: the same at displacements below 2 GiB.
 *
 *   mpicc displacement-32bit.c -o displacement-32bit && mpiexec -n 2 ./displacement-32bit
 */
#include <sys/mman.h>

#include "reproducer.h"

/* Memory that is reserved and hardly touched: the places are 1 GiB apart. */
static const MPI_Aint kGibibyte = (MPI_Aint)1 << 30;

static int place_wrong(char *reserved, MPI_Aint place) {
  int64_t given = 77 + rank, got = -1;
  const int64_t one = 1;
  *(int64_t *)(reserved + place) = 5;
  meet();
  MPI_Put(&given, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win);
  MPI_Win_flush(other, win);
  MPI_Accumulate(&one, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush(other, win);
  MPI_Get(&got, 1, MPI_INT64_T, other, place, 1, MPI_INT64_T, win);
  MPI_Win_flush(other, win);
  meet();
  return got != given + 1 || *(int64_t *)(reserved + place) != 77 + (rank + size - 1) % size + 1;
}

int main(int argc, char **argv) {
  const MPI_Aint bytes = 5 * kGibibyte;
  int wrong;
  begin(&argc, &argv, 20);
  char *const reserved = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  create_window(reserved, bytes);
  wrong = place_wrong(reserved, 0);
  wrong |= place_wrong(reserved, kGibibyte + 8);
  control(wrong);
  wrong |= place_wrong(reserved, 2 * kGibibyte + 8);
  wrong |= place_wrong(reserved, 3 * kGibibyte + 8);
  wrong |= place_wrong(reserved, 4 * kGibibyte + 16);
  free_window();
  munmap(reserved, bytes);
  return verdict(wrong);
}
