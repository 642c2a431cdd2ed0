/* nxtval - dynamic load balancing with a shared counter: C = A B in blocks.
 *
 * The matrices are cut into blocks, and the blocks dealt out to the processes in turn. One counter in the memory of
 * process 0 hands out the tasks: a fetch-and-add gives the next number, to each process as fast as it can work.
 *   phase 1: a task makes one block of A or B and puts it where it lives;
 *   phase 2: a task (i, j, k) gets the blocks A(i,k) and B(k,j), multiplies them and accumulates into C(i,j).
 * All elements are small integers, so that the result can be compared exactly, in any order of the sums.
 *
 * Run:    mpirun -n 4 ./nxtval [BLOCKS [BLOCK_SIZE]]      (default 7 x 7 blocks of 33 x 33 elements)
 * Prints: tasks of each process, the time, then "nxtval: PASS ..." (exit status 0) or "nxtval: FAIL ..." (1).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"

static int me, nproc;
static int blocks, size; /* blocks per side, elements per side of a block */

static void check(int code, const char *call) {
  if (code != 0) ARMCI_Error(call, code);
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory == NULL) ARMCI_Error("malloc", 1);
  return memory;
}

/* ---- a matrix of blocks: block (i, j) is number i * blocks + j, and number b lives with process b % nproc ---- */

typedef struct {
  void **part; /* part[p]: the blocks of process p, one behind the other */
} block_matrix;

static int block_bytes(void) { return size * size * (int)sizeof(double); }

static void create_matrix(block_matrix *matrix) {
  int count = blocks * blocks;
  int mine = count / nproc + (me < count % nproc);
  matrix->part = allocate((size_t)nproc * sizeof(void *));
  check(ARMCI_Malloc(matrix->part, (armci_size_t)mine * block_bytes()), "ARMCI_Malloc");
  if (mine > 0) {
    ARMCI_Access_begin(matrix->part[me]);
    memset(matrix->part[me], 0, (size_t)mine * block_bytes());
    ARMCI_Access_end(matrix->part[me]);
  }
  ARMCI_Barrier(); /* no process may store into a part before its owner has cleared it */
}

static void destroy_matrix(block_matrix *matrix) {
  check(ARMCI_Free(matrix->part[me]), "ARMCI_Free");
  free(matrix->part);
}

static int owner_of(int i, int j) { return (i * blocks + j) % nproc; }

static void *address_of(const block_matrix *matrix, int i, int j) {
  int number = i * blocks + j;
  return (char *)matrix->part[number % nproc] + (size_t)(number / nproc) * block_bytes();
}

/* ---- the counter ---- */

static int next_task(void **counter) {
  int task;
  check(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &task, counter[0], 1, 0), "ARMCI_Rmw");
  return task;
}

/* Collective; no process may draw a number before the counter is back at 0. */
static void reset_counter(void **counter) {
  ARMCI_Barrier();
  if (me == 0) check(ARMCI_PutValueInt(0, counter[0], 0), "ARMCI_PutValueInt");
  ARMCI_Barrier();
}

/* ---- the elements, from their position in the whole matrix ---- */

static double element_a(int row, int column) { return (row * 3 + column * 5) % 11 - 5; }
static double element_b(int row, int column) { return (row * 7 + column * 2) % 13 - 6; }

static int fill(void **counter, const block_matrix *a, const block_matrix *b) {
  double *block = allocate(block_bytes());
  int done = 0, task, r, c;
  while ((task = next_task(counter)) < 2 * blocks * blocks) {
    int is_b = task % 2, i = task / 2 / blocks, j = task / 2 % blocks;
    for (r = 0; r < size; ++r)
      for (c = 0; c < size; ++c) block[r * size + c] = (is_b ? element_b : element_a)(i * size + r, j * size + c);
    check(ARMCI_Put(block, address_of(is_b ? b : a, i, j), block_bytes(), owner_of(i, j)), "ARMCI_Put");
    ++done;
  }
  free(block);
  return done;
}

static void multiply_block(const double *a, const double *b, double *c) {
  int i, j, k;
  memset(c, 0, block_bytes());
  for (i = 0; i < size; ++i)
    for (k = 0; k < size; ++k)
      for (j = 0; j < size; ++j) c[i * size + j] += a[i * size + k] * b[k * size + j];
}

static int multiply(void **counter, const block_matrix *a, const block_matrix *b, const block_matrix *c) {
  double *block_a = allocate(block_bytes()), *block_b = allocate(block_bytes()), *block_c = allocate(block_bytes());
  double one = 1.0;
  int done = 0, task;
  while ((task = next_task(counter)) < blocks * blocks * blocks) {
    int i = task / blocks / blocks, j = task / blocks % blocks, k = task % blocks;
    check(ARMCI_Get(address_of(a, i, k), block_a, block_bytes(), owner_of(i, k)), "ARMCI_Get");
    check(ARMCI_Get(address_of(b, k, j), block_b, block_bytes(), owner_of(k, j)), "ARMCI_Get");
    multiply_block(block_a, block_b, block_c);
    check(ARMCI_Acc(ARMCI_ACC_DBL, &one, block_c, address_of(c, i, j), block_bytes(), owner_of(i, j)), "ARMCI_Acc");
    ++done;
  }
  free(block_a);
  free(block_b);
  free(block_c);
  return done;
}

/* The whole product from the elements alone, nothing of it from shared memory; returns the elements that differ. */
static long compare_with_serial(const block_matrix *c) {
  int n = blocks * size, row, column, k;
  double *line = allocate((size_t)n * sizeof(double)), *block = allocate(block_bytes());
  double *found = allocate((size_t)n * size * sizeof(double));
  long wrong = 0;
  for (row = 0; row < n; ++row) {
    if (row % size == 0) { /* the next row of blocks, laid out as rows */
      int j, r;
      for (j = 0; j < blocks; ++j) {
        check(ARMCI_Get(address_of(c, row / size, j), block, block_bytes(), owner_of(row / size, j)), "ARMCI_Get");
        for (r = 0; r < size; ++r)
          memcpy(found + (size_t)r * n + (size_t)j * size, block + (size_t)r * size, size * sizeof(double));
      }
    }
    memset(line, 0, (size_t)n * sizeof(double));
    for (k = 0; k < n; ++k)
      for (column = 0; column < n; ++column) line[column] += element_a(row, k) * element_b(k, column);
    for (column = 0; column < n; ++column) wrong += line[column] != found[(size_t)(row % size) * n + column];
  }
  free(line);
  free(block);
  free(found);
  return wrong;
}

/* Process 0 prints what each did; every task must have been done once. Returns the tasks too many or too few. */
static int report(const char *phase, int done, int tasks, double seconds) {
  int *all = allocate((size_t)nproc * sizeof(int)), p, sum = 0;
  MPI_Gather(&done, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (me == 0) {
    printf("nxtval: %s: %d tasks in %.3f s, per process", phase, tasks, seconds);
    for (p = 0; p < nproc; ++p) {
      printf(" %d", all[p]);
      sum += all[p];
    }
    printf("\n");
  }
  free(all);
  return me == 0 ? abs(sum - tasks) : 0;
}

static long run(void) {
  void **counter = allocate((size_t)nproc * sizeof(void *));
  block_matrix a, b, c;
  check(ARMCI_Malloc(counter, me == 0 ? (armci_size_t)sizeof(int) : 0), "ARMCI_Malloc");
  create_matrix(&a);
  create_matrix(&b);
  create_matrix(&c);

  reset_counter(counter);
  double start = MPI_Wtime();
  int done = fill(counter, &a, &b);
  ARMCI_Barrier();
  long wrong = report("fill", done, 2 * blocks * blocks, MPI_Wtime() - start);

  reset_counter(counter);
  start = MPI_Wtime();
  done = multiply(counter, &a, &b, &c);
  ARMCI_Barrier();
  wrong += report("multiply", done, blocks * blocks * blocks, MPI_Wtime() - start);

  if (me == 0) {
    long differ = compare_with_serial(&c), n = (long)blocks * size;
    wrong += differ;
    printf("nxtval: %s, %ld of %ld elements equal the serial product\n", wrong == 0 ? "PASS" : "FAIL", n * n - differ,
           n * n);
  }
  MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);

  destroy_matrix(&c);
  destroy_matrix(&b);
  destroy_matrix(&a);
  check(ARMCI_Free(counter[me]), "ARMCI_Free");
  free(counter);
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

  blocks = argc > 1 ? parse_count(argv[1], 1000) : 7;
  size = argc > 2 ? parse_count(argv[2], 4096) : 33;
  int usable = argc <= 3 && blocks > 0 && size > 0;
  if (usable) {
    wrong = run();
  } else if (me == 0) {
    fprintf(stderr, "usage: nxtval [BLOCKS [BLOCK_SIZE]]   with BLOCKS in 1..1000, BLOCK_SIZE in 1..4096\n");
  }

  ARMCI_Finalize();
  MPI_Finalize();
  return !usable ? 2 : wrong != 0 ? 1 : 0;
}
