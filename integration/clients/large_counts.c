/* More than 2^31 bytes: in one call, as the distance of rows, as an offset in a region of more than 4 GiB.
 *
 * large_counts SCALE divides all sizes by SCALE, for a quick look. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "armci.h"
#include "armcix.h"

enum { OWNER = 1, ROW_BYTES = 4096, ROWS = 3 };

static const size_t kMiB = (size_t)1 << 20;
static int me, processes, wrong;

static void expect(int ok, const char* fact) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "large_counts: process %d: not so: %s\n", me, fact);
}

static uint64_t value_at(size_t i, uint64_t seed) { return (i + seed) * 0x9e3779b97f4a7c15ull; }

static uint64_t* buffer_of(size_t bytes) {
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Whether the machine has this much for all processes; the answer of the poorest. */
static int has_memory(size_t bytes) {
  unsigned long long available_kib = 0;
  char line[256];
  FILE* const info = fopen("/proc/meminfo", "r");
  while (info != NULL && fgets(line, sizeof line, info) != NULL)
    if (sscanf(line, "MemAvailable: %llu kB", &available_kib) == 1) break;
  if (info != NULL) fclose(info);
  int enough = available_kib / 1024 > bytes / kMiB;
  MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return enough;
}

/* One put and one get of `bytes`, from the end of the region on. */
static void contiguous(char** parts, size_t region_bytes, size_t bytes) {
  if (me == 0) {
    const size_t words = bytes / sizeof(uint64_t);
    char* const there = parts[OWNER] + region_bytes - bytes;
    uint64_t* const buffer = buffer_of(bytes);
    expect(buffer != NULL, "memory of the buffer");
    for (size_t i = 0; i < words; ++i) buffer[i] = value_at(i, 1);
    expect(ARMCIX_Put(buffer, there, bytes, OWNER) == 0, "ARMCIX_Put");
    madvise(buffer, bytes, MADV_DONTNEED); /* zeros again */
    expect(ARMCIX_Get(there, buffer, bytes, OWNER) == 0, "ARMCIX_Get");
    size_t differing = 0;
    for (size_t i = 0; i < words; ++i) differing += buffer[i] != value_at(i, 1);
    expect(differing == 0, "the get has what the put stored");
    munmap(buffer, bytes);
  }
  ARMCI_Barrier();
  if (me == OWNER) {
    const uint64_t* const mine = (const uint64_t*)(parts[OWNER] + region_bytes - bytes);
    size_t differing = 0;
    for (size_t i = 0; i < bytes / sizeof *mine; i += 509) differing += mine[i] != value_at(i, 1);
    expect(differing == 0, "the owner sees the put");
  }
  ARMCI_Barrier();
}

/* Rows that are `distance` bytes apart at the target. */
static void strided(char** parts, size_t distance) {
  if (me == 0) {
    uint64_t rows[ROWS][ROW_BYTES / sizeof(uint64_t)], back[ROWS][ROW_BYTES / sizeof(uint64_t)];
    for (size_t row = 0; row < ROWS; ++row)
      for (size_t i = 0; i < ROW_BYTES / sizeof(uint64_t); ++i) rows[row][i] = value_at(i, 100 + row);
    const ptrdiff_t near[1] = {ROW_BYTES}, far[1] = {(ptrdiff_t)distance};
    const size_t counts[2] = {ROW_BYTES, 2}; /* rows 0 and 1 are in reach of one region */
    expect(ARMCIX_PutS(rows, near, parts[OWNER], far, counts, 1, OWNER) == 0, "ARMCIX_PutS");
    expect(ARMCIX_GetS(parts[OWNER], far, back, near, counts, 1, OWNER) == 0, "ARMCIX_GetS");
    for (size_t i = 0; i < ROW_BYTES / sizeof(uint64_t); ++i)
      expect(back[0][i] == rows[0][i] && back[1][i] == rows[1][i], "rows that are far apart");
  }
  ARMCI_Barrier();
}

/* Small transfers, an accumulate and a ticket beyond 2^32 bytes of a region. */
static void far_offsets(char** parts, size_t region_bytes) {
  char* const last = parts[OWNER] + region_bytes - 64;
  long value = 4711, got = 0, scale = 1, ticket = -1;
  if (me == 0) {
    expect(ARMCI_Put(&value, last, sizeof value, OWNER) == 0, "a put beyond 2^32");
    expect(ARMCI_Acc(ARMCI_ACC_LNG, &scale, &value, last, sizeof value, OWNER) == 0, "an accumulate beyond 2^32");
    expect(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, last, 1, OWNER) == 0 && ticket == 2 * value,
           "a ticket beyond 2^32");
    expect(ARMCI_Get(last, &got, sizeof got, OWNER) == 0 && got == 2 * value + 1, "a get beyond 2^32");
    ARMCI_Put(&value, parts[OWNER], sizeof value, OWNER);
    expect(ARMCI_Get(parts[OWNER], &got, sizeof got, OWNER) == 0 && got == value, "the begin is another place");
  }
  ARMCI_Barrier();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const size_t scale = argc > 1 ? (size_t)atol(argv[1]) : 1;
  const size_t region_bytes = 4200 * kMiB / scale, transfer_bytes = 2200 * kMiB / scale, distance = 3000 * kMiB / scale;
  /* All pages of a region exist; the buffer beside it, and room for what else runs. */
  const int enough = has_memory(region_bytes + transfer_bytes + 1024 * kMiB);
  char** const parts = malloc(sizeof(char*) * (size_t)processes);
  expect(ARMCI_Init() == 0, "ARMCI_Init");
  if (enough && processes > OWNER) {
    const int allocated = ARMCI_Malloc((void**)parts, me == OWNER ? (long)region_bytes : 0);
    expect(allocated == 0, "ARMCI_Malloc of more than 4 GiB");
    if (allocated == 0) {
      far_offsets(parts, region_bytes);
      strided(parts, distance);
      contiguous(parts, region_bytes, transfer_bytes);
      ARMCI_Free(me == OWNER ? parts[OWNER] : NULL);
    }
  } else if (me == 0) {
    printf("large_counts: skipped: it takes two processes, and %zu MiB of memory\n",
           (region_bytes + transfer_bytes) / kMiB);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(parts);
  ARMCI_Finalize();
  if (me == 0) printf("large_counts: %s, %zu MiB in one call\n", wrong == 0 ? "PASS" : "FAIL", transfer_bytes / kMiB);
  MPI_Finalize();
  return wrong != 0;
}
