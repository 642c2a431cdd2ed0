/* accumulate-header: MPI_Accumulate with a type of very many irregular segments ends the process: its description
 * does not fit.
 *
 * Control: the same with 16 segments.
 *
 * See pmodels/mpich 7886: it takes InfiniBand.
 *
 *   mpicc accumulate-header.c -o accumulate-header && mpiexec -n 2 ./accumulate-header
 */
#include "reproducer.h"

enum { kSegmentsMax = 131072 };

static int accumulate_wrong(int segments) {
  static int places[kSegmentsMax];
  static double ones[kSegmentsMax];
  MPI_Datatype type;
  int wrong = 0;
  for (int i = 0, place = 0; i < segments; ++i) {
    places[i] = place;
    place += 2 + i % 3;
    ones[i] = 1;
  }
  open_window(0, (MPI_Aint)sizeof(double) * 4 * kSegmentsMax);
  MPI_Type_create_indexed_block(segments, 1, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Accumulate(ones, segments, MPI_DOUBLE, other, 0, 1, type, MPI_SUM, win);
  MPI_Win_flush(other, win);
  meet();
  for (int i = 0; i < segments; ++i) wrong |= ((double *)memory)[places[i]] != 1;
  MPI_Type_free(&type);
  close_window(0);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 60);
  control(accumulate_wrong(16));
  int wrong = accumulate_wrong(512);
  wrong |= accumulate_wrong(4096);
  wrong |= accumulate_wrong(kSegmentsMax);
  return verdict(wrong);
}
