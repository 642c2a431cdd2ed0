/* win-allocate-swap: MPI_Compare_and_swap on memory of MPI_Win_allocate ends the process with a segmentation
 * fault.
 *
 * Control: the same under MPI_Win_create.
 *
 *   mpicc win-allocate-swap.c -o win-allocate-swap && mpiexec -n 2 ./win-allocate-swap
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

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(all_widths_wrong(0));
  return verdict(all_widths_wrong(1));
}
