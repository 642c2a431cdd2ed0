/* transpose - B = transpose of A, both distributed in two dimensions; every process fetches what it needs.
 *
 * The processes form a grid. A (ROWS x COLUMNS) and B (COLUMNS x ROWS) are cut into one block for each of them, of
 * nearly equal sizes. A process makes its block of B from patches of the blocks of A, which lie in the memory of
 * several others, and does it in two ways: patches: strided gets collect the patches as they are (long rows), then a
 * local loop transposes them; direct:  strided gets of single elements, with strides that transpose while they copy.
 * Less code, more segments.
 *
 * Run:    mpirun -n 4 ./transpose [ROWS COLUMNS]      (default 1003 x 517)
 * Prints: the time of each way, then "transpose: PASS ..." (exit status 0) or "transpose: FAIL ..." (1).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "armci.h"

enum { kDouble = sizeof(double) };

static int me, nproc;
static int grid_rows, grid_columns; /* process r * grid_columns + c sits at (r, c) */

typedef struct {
  int row, column, height, width; /* of the whole matrix; row and column are those of the first element */
} patch;

typedef struct {
  int rows, columns;
  void **block; /* block[p]: the patch patch_of(matrix, p), row by row */
} matrix;

static void check(int code, const char *call) {
  if (code != 0) ARMCI_Error(call, code);
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) ARMCI_Error("malloc", 1);
  return memory;
}

/* The grid closest to a square that uses all processes. */
static void make_grid(void) {
  int r;
  for (r = 1; r * r <= nproc; ++r)
    if (nproc % r == 0) grid_rows = r;
  grid_columns = nproc / grid_rows;
}

/* The first of count elements that part `index` of `parts` has; the parts differ by one element at most. */
static int first_of(int count, int parts, int index) { return (int)((long)count * index / parts); }

static patch patch_of(const matrix *m, int p) {
  int r = p / grid_columns, c = p % grid_columns;
  patch result;
  result.row = first_of(m->rows, grid_rows, r);
  result.column = first_of(m->columns, grid_columns, c);
  result.height = first_of(m->rows, grid_rows, r + 1) - result.row;
  result.width = first_of(m->columns, grid_columns, c + 1) - result.column;
  return result;
}

static patch intersection(patch a, patch b) {
  int row_end = a.row + a.height < b.row + b.height ? a.row + a.height : b.row + b.height;
  int column_end = a.column + a.width < b.column + b.width ? a.column + a.width : b.column + b.width;
  patch result;
  result.row = a.row > b.row ? a.row : b.row;
  result.column = a.column > b.column ? a.column : b.column;
  result.height = row_end > result.row ? row_end - result.row : 0;
  result.width = column_end > result.column ? column_end - result.column : 0;
  return result;
}

static matrix create_matrix(int rows, int columns) {
  matrix m;
  m.rows = rows;
  m.columns = columns;
  m.block = allocate((size_t)nproc * sizeof(void *));
  patch mine = patch_of(&m, me);
  check(ARMCI_Malloc(m.block, (armci_size_t)mine.height * mine.width * kDouble), "ARMCI_Malloc");
  return m;
}

static void destroy_matrix(matrix *m) {
  check(ARMCI_Free(m->block[me]), "ARMCI_Free");
  free(m->block);
}

/* The address of element (row, column) of the whole matrix, which lies in the block of process p. */
static double *address_of(const matrix *m, int p, int row, int column) {
  patch block = patch_of(m, p);
  return (double *)m->block[p] + (size_t)(row - block.row) * block.width + (column - block.column);
}

/* A distinct number for each element of A, exact in a double. */
static double element_a(const matrix *a, int row, int column) { return (double)row * a->columns + column; }

/* Visits the elements of the own block of m. */
typedef enum { kFillA, kClear, kCountWrong } visit;

/* Loads and stores of the owner on its own block, between Access_begin and Access_end; returns the wrong elements. */
static long visit_own_block(const matrix *m, const matrix *a, visit what) {
  patch mine = patch_of(m, me);
  double *element = m->block[me];
  long wrong = 0;
  int row, column;
  if (element == NULL) return 0;
  ARMCI_Access_begin(m->block[me]);
  for (row = mine.row; row < mine.row + mine.height; ++row)
    for (column = mine.column; column < mine.column + mine.width; ++column, ++element) {
      if (what == kFillA) *element = element_a(a, row, column);
      if (what == kClear) *element = -1;
      if (what == kCountWrong) wrong += *element != element_a(a, column, row);
    }
  ARMCI_Access_end(m->block[me]);
  return wrong;
}

/* The block of A that the own block of B needs, in the coordinates of A. */
static patch needed_from_a(const matrix *b) {
  patch mine = patch_of(b, me), needed;
  needed.row = mine.column;
  needed.column = mine.row;
  needed.height = mine.width;
  needed.width = mine.height;
  return needed;
}

/* All gets are pending at the same time; the local loop then has everything in one array. */
static void transpose_patches(const matrix *a, const matrix *b) {
  patch needed = needed_from_a(b);
  double *local = allocate((size_t)needed.height * needed.width * kDouble), *to = b->block[me];
  int p, row, column;
  for (p = 0; p < nproc; ++p) {
    patch block = patch_of(a, p), part = intersection(block, needed);
    if (part.height == 0 || part.width == 0) continue;
    double *into = local + (size_t)(part.row - needed.row) * needed.width + (part.column - needed.column);
    int count[2] = {part.width * kDouble, part.height};
    int from_stride[1] = {block.width * kDouble}, into_stride[1] = {needed.width * kDouble};
    check(ARMCI_NbGetS(address_of(a, p, part.row, part.column), from_stride, into, into_stride, count, 1, p, NULL),
          "ARMCI_NbGetS");
  }
  check(ARMCI_WaitAll(), "ARMCI_WaitAll");
  if (to != NULL) {
    ARMCI_Access_begin(to);
    for (column = 0; column < needed.width; ++column)
      for (row = 0; row < needed.height; ++row)
        to[(size_t)column * needed.height + row] = local[(size_t)row * needed.width + column];
    ARMCI_Access_end(to);
  }
  free(local);
}

/* One element is a segment: down a column of A is along a row of B (level 1), and the next column is the next row. */
static void transpose_direct(const matrix *a, const matrix *b) {
  patch needed = needed_from_a(b);
  int p;
  for (p = 0; p < nproc; ++p) {
    patch block = patch_of(a, p), part = intersection(block, needed);
    if (part.height == 0 || part.width == 0) continue;
    int count[3] = {kDouble, part.height, part.width};
    int from_stride[2] = {block.width * kDouble, kDouble};
    int into_stride[2] = {kDouble, needed.height * kDouble};
    check(ARMCI_GetS(address_of(a, p, part.row, part.column), from_stride, address_of(b, me, part.column, part.row),
                     into_stride, count, 2, p),
          "ARMCI_GetS");
  }
}

/* Collective; returns the number of wrong elements of the whole matrix, on every process. */
static long timed(const char *name, void (*transpose)(const matrix *, const matrix *), const matrix *a,
                  const matrix *b) {
  visit_own_block(b, a, kClear);
  ARMCI_Barrier();
  double start = MPI_Wtime();
  transpose(a, b);
  ARMCI_Barrier();
  double seconds = MPI_Wtime() - start;
  long wrong = visit_own_block(b, a, kCountWrong);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("transpose: %-8s %8.3f ms, %ld wrong elements\n", name, seconds * 1e3, wrong);
  return wrong;
}

static long run(int rows, int columns) {
  make_grid();
  if (me == 0) printf("transpose: %d x %d doubles on %d x %d processes\n", rows, columns, grid_rows, grid_columns);
  matrix a = create_matrix(rows, columns), b = create_matrix(columns, rows);
  visit_own_block(&a, &a, kFillA);
  long wrong = timed("patches", transpose_patches, &a, &b) + timed("direct", transpose_direct, &a, &b);
  long all = 2L * rows * columns;
  if (me == 0)
    printf("transpose: %s, %ld of %ld elements right, both ways\n", wrong == 0 ? "PASS" : "FAIL", all - wrong, all);
  destroy_matrix(&b);
  destroy_matrix(&a);
  return wrong;
}

/* 0 when text is no whole number from 1 to limit. */
static int parse_count(const char *text, int limit) {
  char *end;
  long value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value >= 1 && value <= limit ? (int)value : 0;
}

int main(int argc, char **argv) {
  long wrong = 0;
  MPI_Init(&argc, &argv);
  check(ARMCI_Init(), "ARMCI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);

  int rows = argc == 3 ? parse_count(argv[1], 1000000) : 1003;
  int columns = argc == 3 ? parse_count(argv[2], 1000000) : 517;
  int usable = (argc == 1 || argc == 3) && rows > 0 && columns > 0;
  if (usable) {
    wrong = run(rows, columns);
  } else if (me == 0) {
    fprintf(stderr, "usage: transpose [ROWS COLUMNS]   with both in 1..1000000\n");
  }

  ARMCI_Finalize();
  MPI_Finalize();
  return !usable ? 2 : wrong != 0 ? 1 : 0;
}
