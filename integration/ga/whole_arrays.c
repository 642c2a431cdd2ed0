/* Operations on whole arrays: matrix product, transposition, duplicates, patches copied, sums and scaling, and the
 * building blocks of a sort (enumeration, scan, packing). */
#include <math.h>
#include <stdlib.h>

#include "checks.h"

enum { M = 61, K = 47, N = 53, LENGTH = 300 };

static double a_at(int i, int j) { return (i * 3 + j * 5) % 11 - 4; }
static double b_at(int i, int j) { return (i * 7 + j * 2) % 13 - 5; }

static int make(const char* name, int rows, int columns) {
  int dims[2] = {rows, columns};
  const int array = NGA_Create(C_DBL, 2, dims, (char*)name, NULL);
  CHECK(array != 0);
  return array;
}

/* Each process writes its own part, in place. */
static void fill(int array, double (*at)(int, int)) {
  int lo[2], hi[2], ld[1];
  double* mine = NULL;
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  if (lo[0] >= 0 && hi[0] >= lo[0] && hi[1] >= lo[1]) {
    NGA_Access(array, lo, hi, &mine, ld);
    for (int i = lo[0]; i <= hi[0]; ++i) {
      for (int j = lo[1]; j <= hi[1]; ++j) mine[(i - lo[0]) * ld[0] + j - lo[1]] = at(i, j);
    }
    NGA_Release_update(array, lo, hi);
  }
  GA_Sync();
}

static double* all_of(int array, int rows, int columns) {
  double* whole = malloc(sizeof(double) * (size_t)rows * (size_t)columns);
  int lo[2] = {0, 0}, hi[2] = {rows - 1, columns - 1}, ld[1] = {columns};
  NGA_Get(array, lo, hi, whole, ld);
  GA_Sync();
  return whole;
}

static void products(void) {
  const int a = make("a", M, K), b = make("b", K, N), c = make("c", M, N), t = make("t", N, M);
  fill(a, a_at);
  fill(b, b_at);
  GA_Zero(c);
  GA_Dgemm('n', 'n', M, N, K, 2.0, a, b, 0.0, c);
  GA_Transpose(c, t);
  double* product = all_of(c, M, N);
  double* turned = all_of(t, N, M);
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += a_at(i, k) * b_at(k, j);
      CHECK(product[i * N + j] == 2 * sum && turned[j * M + i] == 2 * sum);
    }
  }
  free(product);
  free(turned);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
  GA_Destroy(t);
}

static void copies(void) {
  const int a = make("a", M, N);
  fill(a, a_at);
  const int copy = GA_Duplicate(a, "copy");
  CHECK(copy != 0 && GA_Compare_distr(a, copy) == 0);
  GA_Copy(a, copy);
  double two = 2, minus = -1;
  GA_Scale(copy, &two);
  GA_Add(&two, a, &minus, copy, copy); /* 2 a - 2 a */
  CHECK(GA_Ddot(copy, copy) == 0);
  int alo[2] = {3, 5}, ahi[2] = {20, 30}, blo[2] = {40, 10}, bhi[2] = {57, 35};
  NGA_Copy_patch('n', a, alo, ahi, copy, blo, bhi);
  double* found = all_of(copy, M, N);
  double sum = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      const int inside = i >= blo[0] && i <= bhi[0] && j >= blo[1] && j <= bhi[1];
      CHECK(found[i * N + j] == (inside ? a_at(i - blo[0] + alo[0], j - blo[1] + alo[1]) : 0));
      sum += a_at(i, j) * found[i * N + j];
    }
  }
  CHECK(fabs(GA_Ddot(a, copy) - sum) < 1e-9 * fabs(sum) + 1e-9);
  free(found);
  GA_Destroy(a);
  GA_Destroy(copy);
}

/* Where the elements of a kind go: those marked are counted by a scan, and packed. */
static void packing(void) {
  int dims[1] = {LENGTH};
  const int values = NGA_Create(C_INT, 1, dims, "values", NULL), marks = NGA_Create(C_INT, 1, dims, "marks", NULL);
  const int packed = NGA_Create(C_INT, 1, dims, "packed", NULL);
  int lo[1] = {0}, hi[1] = {LENGTH - 1}, ld[1] = {LENGTH};
  int numbers[LENGTH], kept[LENGTH], count = 0;
  for (int i = 0; i < LENGTH; ++i) {
    numbers[i] = i * i % 101;
    kept[i] = numbers[i] % 3 == 0;
  }
  if (GA_Nodeid() == 0) {
    NGA_Put(values, lo, hi, numbers, ld);
    NGA_Put(marks, lo, hi, kept, ld);
  }
  GA_Zero(packed);
  GA_Sync();
  long found = 0;
  GA_Pack(values, packed, marks, 0, LENGTH - 1, &count);
  int result[LENGTH];
  NGA_Get(packed, lo, hi, result, ld);
  GA_Sync();
  for (int i = 0; i < LENGTH; ++i) {
    if (kept[i]) CHECK(result[found++] == numbers[i]);
  }
  CHECK(count == found);
  int first = 7, step = 2;
  GA_Patch_enum(values, 0, LENGTH - 1, &first, &step);
  NGA_Get(values, lo, hi, result, ld);
  for (int i = 0; i < LENGTH; ++i) CHECK(result[i] == first + step * i);
  GA_Sync();
  GA_Destroy(values);
  GA_Destroy(marks);
  GA_Destroy(packed);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  products();
  copies();
  packing();
  return end("whole_arrays");
}
