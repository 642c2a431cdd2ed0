/* datatype-rows: MPI_Put with a datatype on the origin takes more than 1.5 times as long as packing
 * the rows and putting them as one run of bytes.
 *
 * Control: both move the same data.
 *
 *   mpicc datatype-rows.c -o datatype-rows && mpiexec -n 2 ./datatype-rows
 */
#include "reproducer.h"

enum { kRows = 64, kRowBytes = 128, kRunBytes = kRows * kRowBytes };

static char rows[2 * kRunBytes], packed[kRunBytes];
static char *target_bytes;
static MPI_Datatype type;

static void put_rows(int target) {
  MPI_Put(rows, 1, type, target, 0, kRunBytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static void put_packed(int target) {
  for (int i = 0; i < kRows; ++i) memcpy(packed + i * kRowBytes, rows + 2 * i * kRowBytes, kRowBytes);
  MPI_Put(packed, kRunBytes, MPI_BYTE, target, 0, kRunBytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}

static int data_wrong(void) {
  static char by_type[kRunBytes];
  MPI_Type_vector(kRows, kRowBytes, 2 * kRowBytes, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 2 * kRunBytes; ++i) rows[i] = (char)(i % 251 + 1);
  put_rows(rank);
  MPI_Win_sync(win);
  memcpy(by_type, target_bytes, kRunBytes);
  memset(target_bytes, 0, kRunBytes);
  MPI_Win_sync(win);
  put_packed(rank);
  MPI_Win_sync(win);
  const int wrong = memcmp(by_type, target_bytes, kRunBytes) != 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

static int too_slow(void) {
  static double by_type[kMeasurements], by_packing[kMeasurements];
  for (int i = 0; i < kMeasurements; ++i) {
    const double start = MPI_Wtime();
    put_rows(other);
    const double middle = MPI_Wtime();
    put_packed(other);
    by_type[i] = middle - start;
    by_packing[i] = MPI_Wtime() - middle;
  }
  const double usual = quartile(by_type), better = quartile(by_packing);
  printf("datatype %.1f us, packed %.1f us\n", usual * 1e6, better * 1e6);
  return usual > 1.5 * better;
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
