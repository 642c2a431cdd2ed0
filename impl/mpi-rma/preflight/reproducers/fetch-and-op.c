/* fetch-and-op: MPI_Fetch_and_op on 4- or 8-byte integers under MPI_Win_create gives a wrong result or loses
 * updates.
 *
 * Control: the same sums by MPI_Accumulate, compared by the owner.
 *
 *   mpicc fetch-and-op.c -o fetch-and-op && mpiexec -n 2 ./fetch-and-op
 */
#include "reproducer.h"

enum { kAdds = 500 };

/* All add to one counter of process 0: each value may be fetched once. */
static int count_wrong(int allocated) {
  const int64_t one = 1;
  int64_t sum = 0;
  open_window(allocated, 4096);
  for (int i = 0; i < kAdds; ++i) {
    int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    sum += before;
  }
  meet();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t total = (int64_t)kAdds * size;
  const int wrong = sum != total * (total - 1) / 2 || (rank == 0 && memory[0] != total);
  close_window(allocated);
  return wrong;
}

static int sums_wrong(void) {
  const int64_t one = 1;
  open_window(0, 4096);
  for (int i = 0; i < kAdds; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(0, win);
  }
  meet();
  const int wrong = rank == 0 && memory[0] != (int64_t)kAdds * size;
  close_window(0);
  return wrong;
}

/* One word of four or eight bytes between others: replaced, added to, read. */
static int word_wrong(MPI_Datatype type, int bytes, MPI_Aint place) {
  int64_t operand[] = {41, 2, 0}, before[] = {-1, -1, -1}, found = 0;
  const int64_t expected[] = {0, 41, 43};
  const MPI_Op ops[] = {MPI_REPLACE, MPI_SUM, MPI_NO_OP};
  int wrong = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Fetch_and_op(&operand[i], &before[i], type, other, place, ops[i], win);
    MPI_Win_flush(other, win);
    wrong |= memcmp(&before[i], &expected[i], bytes) != 0;
  }
  meet();
  memcpy(&found, (char *)memory + place, bytes);
  return wrong || found != 43;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  control(sums_wrong());
  int wrong = count_wrong(0);
  open_window(0, 4096);
  wrong |= word_wrong(MPI_INT32_T, 4, 20);
  wrong |= word_wrong(MPI_UINT32_T, 4, 28);
  wrong |= word_wrong(MPI_INT64_T, 8, 40);
  wrong |= word_wrong(MPI_UINT64_T, 8, 56);
  close_window(0);
  return verdict(wrong);
}
