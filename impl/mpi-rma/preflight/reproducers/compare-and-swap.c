/* compare-and-swap: MPI_Compare_and_swap on 4- or 8-byte integers under MPI_Win_create gives a wrong result.
 *
 * Control: MPI_Fetch_and_op(MPI_REPLACE) on the same kind of window.
 *
 *   mpicc compare-and-swap.c -o compare-and-swap && mpiexec -n 2 ./compare-and-swap
 */
#include "reproducer.h"

/* One that does not match, one that does. */
static int swap_wrong(MPI_Datatype type, int bytes, MPI_Aint place) {
  const int64_t compare[] = {7, 0}, swap[] = {8, 99}, expected = 0;
  int64_t found = 0;
  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    int64_t before = -1;
    MPI_Compare_and_swap(&swap[i], &compare[i], &before, type, other, place, win);
    MPI_Win_flush(other, win);
    wrong |= memcmp(&before, &expected, bytes) != 0;
  }
  meet();
  memcpy(&found, (char *)memory + place, bytes);
  return wrong || found != 99;
}

static int all_widths_wrong(int allocated) {
  open_window(allocated, 4096);
  int wrong = swap_wrong(MPI_INT32_T, 4, 20);
  wrong |= swap_wrong(MPI_UINT32_T, 4, 28);
  wrong |= swap_wrong(MPI_INT64_T, 8, 40);
  wrong |= swap_wrong(MPI_UINT64_T, 8, 56);
  close_window(allocated);
  return wrong;
}

static int replace_wrong(void) {
  const int64_t value = 99;
  int64_t before = -1;
  open_window(0, 4096);
  MPI_Fetch_and_op(&value, &before, MPI_INT64_T, other, 0, MPI_REPLACE, win);
  MPI_Win_flush(other, win);
  meet();
  const int wrong = before != 0 || memory[0] != 99;
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(replace_wrong());
  return verdict(all_widths_wrong(0));
}
