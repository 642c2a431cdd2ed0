/* put-slow: MPI_Put and MPI_Win_flush take more than 1.5 times as long as MPI_Accumulate(MPI_REPLACE) and
 * MPI_Win_flush of the same bytes.
 *
 * Control: both move the same data.
 *
 *   mpicc put-slow.c -o put-slow && mpiexec -n 2 ./put-slow
 */
#include "reproducer.h"

enum { kRunBytes = 8192 };

static char data[kRunBytes];
static char *target_bytes;

static void put(int target, int bytes) {
  MPI_Put(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static void replace(int target, int bytes) {
  MPI_Accumulate(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, MPI_REPLACE, win);
  MPI_Win_flush(target, win);
}

static int data_wrong(void) {
  int wrong = 0;
  for (int i = 0; i < kRunBytes; ++i) data[i] = (char)(i % 251 + 1);
  put(rank, kRunBytes);
  MPI_Win_sync(win);
  wrong |= memcmp(data, target_bytes, kRunBytes) != 0;
  memset(target_bytes, 0, kRunBytes);
  MPI_Win_sync(win);
  replace(rank, kRunBytes);
  MPI_Win_sync(win);
  wrong |= memcmp(data, target_bytes, kRunBytes) != 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

static int slow_at(int bytes) {
  static double puts[kMeasurements], accumulates[kMeasurements];
  for (int i = 0; i < kMeasurements; ++i) {
    const double start = MPI_Wtime();
    put(other, bytes);
    const double middle = MPI_Wtime();
    replace(other, bytes);
    puts[i] = middle - start;
    accumulates[i] = MPI_Wtime() - middle;
  }
  const double usual = quartile(puts), better = quartile(accumulates);
  printf("%d bytes: put %.1f us, accumulate %.1f us\n", bytes, usual * 1e6, better * 1e6);
  return usual > 1.5 * better;
}

static int too_slow(void) {
  const int small = slow_at(8);
  return slow_at(kRunBytes) && small;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 40);
  target_bytes = calloc(1, kRunBytes);
  create_window(target_bytes, kRunBytes);
  control(data_wrong());
  const int slow = rank == 0 && too_slow();
  MPI_Barrier(MPI_COMM_WORLD);
  free_window();
  free(target_bytes);
  return verdict(slow);
}
