// The frame of an emitted C file; @NAME@ marks what depends on the program. See emit_c.h.
#ifndef CONFORMANCE_HISTORY_EMIT_C_TEMPLATE_H_
#define CONFORMANCE_HISTORY_EMIT_C_TEMPLATE_H_

namespace conformance::history {

inline constexpr const char* kTemplate = R"c(/* @STORY@
 *
 * Found by a random program of the ARMCI conformance suite. To repeat it:
 *
 *     mpicc -o reproducer THIS_FILE -larmci
 *     mpirun -n @RANKS@ ./reproducer [ROUNDS]
 *
 * Exit status: 0 all rounds were legal, 1 one was not (its values are printed), 2 wrong use. All processes must run on
 * one machine, whose clock dates what they do.
 *
 * A value names the put or swap that wrote it in its bits 16..31 and again in 48..63; each accumulate adds one of the
 * bits 32..47, each fetch-and-add one of the bits 0..15.
 */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "armci.h"

#define RANKS @RANKS@
#define PART_BYTES @PART_BYTES@
#define SLOTS @SLOTS@
#define SECTIONS @SECTIONS@
#define ORDERS @ORDERS@
#define REQUESTS @REQUESTS@
#define HANDLES 4
#define BITS 0x0000FFFF0000FFFFL
#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]) - 1)

/* Every table ends with a row that means nothing, since C has no empty ones. */

/* Host, offset and first value of each cell. */
static const struct cell { int host, offset; long value; } cells[] = {
@CELLS@    {-1, 0, 0}};

/* The value read into a slot is legal when it equals `fixed` apart from the bits in `optional`. Each order is one in
 * which the mutexes can be obtained; a slot without a row is not judged. */
static const struct legal { int order, slot; long fixed, optional; } legal[] = {
@LEGAL@    {-1, 0, 0, 0}};

/* Two reads by one process, one after the other, must not see the newer and then the older of two puts. */
static const struct older { int order, first, second; long newer, older; } olders[] = {
@OLDER@    {-1, 0, 0, 0, 0}};

/* Nor may something added vanish between them. */
static const struct pair { int first, second; } pairs[] = {
@PAIRS@    {-1, -1}};

/* Read-modify-writes on counters, in the order of each process. */
static const struct rmw { int rank, slot, location, bytes, swap; long operand; } rmws[] = {
@RMWS@    {-1, 0, 0, 0, 0, 0}};

/* The mutex of each critical section. */
static const int mutexes[] = {
@MUTEXES@    -1};

static char *base[RANKS];
static armci_hdl_t handles[HANDLES];
static MPI_Request requests[REQUESTS];
static int token, gathering[HANDLES];
static long seen[SLOTS];
static double began[SLOTS], ended[SLOTS], held_from[SECTIONS], held_to[SECTIONS];
@BUFFERS@
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int code) {
  if (code == 0) return;
  printf("an ARMCI call returned %d\n", code);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void linger(int n) {
  volatile int i;
  for (i = 0; i < n; ++i) continue;
}

static void gather(int i) {
  if (!gathering[i]) ARMCI_SET_AGGREGATE_HANDLE(&handles[i]);
  gathering[i] = 1;
}

static void finish(int i) {
  must(ARMCI_Wait(&handles[i]));
  if (gathering[i]) ARMCI_UNSET_AGGREGATE_HANDLE(&handles[i]);
  gathering[i] = 0;
}

@RANK_FUNCTIONS@static int reads_legal(int order) {
  static int judged[SLOTS], fine[SLOTS];
  int i;
  memset(judged, 0, sizeof judged);
  memset(fine, 0, sizeof fine);
  for (i = 0; i < LENGTH(legal); ++i) {
    const struct legal *row = &legal[i];
    if (row->order != order) continue;
    judged[row->slot] = 1;
    fine[row->slot] |= (seen[row->slot] & ~row->optional) == row->fixed;
  }
  for (i = 0; i < SLOTS; ++i) {
    if (judged[i] && !fine[i]) return 0;
  }
  for (i = 0; i < LENGTH(olders); ++i) {
    const struct older *row = &olders[i];
    if (row->order == order && (seen[row->first] >> 48 & 0xFFFF) == row->newer &&
        (seen[row->second] >> 48 & 0xFFFF) == row->older) {
      return 0;
    }
  }
  for (i = 0; i < LENGTH(pairs); ++i) {
    const long a = seen[pairs[i].first], b = seen[pairs[i].second];
    if ((a & ~BITS) == (b & ~BITS) && (a & BITS & ~b) != 0) return 0;
  }
  return 1;
}

static long after(const struct rmw *call, long value) {
  const unsigned long sum = (unsigned long)value + (unsigned long)call->operand;
  if (call->swap) return call->operand;
  return call->bytes == 4 ? (long)(int)(unsigned)sum : (long)sum;
}

/* Whether some order of the calls that are not used yet explains what they saw. */
static int explained(int location, char *used, long value) {
  double must_end = 1e300;
  int i, j, left = 0;
  for (i = 0; i < LENGTH(rmws); ++i) {
    if (rmws[i].location != location || used[i]) continue;
    left = 1;
    if (ended[rmws[i].slot] < must_end) must_end = ended[rmws[i].slot];
  }
  if (!left) return 1;
  for (i = 0; i < LENGTH(rmws); ++i) {
    const struct rmw *call = &rmws[i];
    if (call->location != location || used[i] || seen[call->slot] != value || began[call->slot] > must_end) continue;
    for (j = 0; j < i; ++j) {
      if (rmws[j].location == location && rmws[j].rank == call->rank && !used[j]) break;
    }
    if (j < i) continue;
    used[i] = 1;
    if (explained(location, used, after(call, value))) return 1;
    used[i] = 0;
  }
  return 0;
}

static int counters_legal(void) {
  static char used[sizeof rmws / sizeof rmws[0]];
  int i;
  for (i = 0; i < LENGTH(rmws); ++i) {
    memset(used, 0, sizeof used);
    if (!explained(rmws[i].location, used, 0)) return 0;
  }
  return 1;
}

static int sections_apart(void) {
  int i, j;
  for (i = 0; i < LENGTH(mutexes); ++i) {
    for (j = 0; j < i; ++j) {
      if (mutexes[i] == mutexes[j] && held_from[i] < held_to[j] && held_from[j] < held_to[i]) return 0;
    }
  }
  return 1;
}

static const char *verdict(void) {
  int order;
  if (!sections_apart()) return "two processes held one mutex";
  if (!counters_legal()) return "no order explains what the read-modify-writes saw";
  for (order = 0; order < ORDERS; ++order) {
    if (reads_legal(order)) return NULL;
  }
  return "a read returned a value that it must not return";
}

static void round_of(int me) {
  int i;
  memset(seen, 0, sizeof seen);
  for (i = 0; i < SLOTS; ++i) began[i] = ended[i] = 0;
  for (i = 0; i < SECTIONS; ++i) held_from[i] = held_to[i] = 0;
  for (i = 0; i < REQUESTS; ++i) requests[i] = MPI_REQUEST_NULL;
  for (i = 0; i < LENGTH(cells); ++i) {
    if (cells[i].host == me) *(volatile long *)(base[me] + cells[i].offset) = cells[i].value;
  }
  ARMCI_Barrier();
  switch (me) {
@RANK_CALLS@  }
  for (i = 0; i < REQUESTS; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  ARMCI_Barrier();
  /* Each place was written by one process and is zero at all others. */
  MPI_Allreduce(MPI_IN_PLACE, seen, SLOTS, MPI_LONG, MPI_BOR, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, began, SLOTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, ended, SLOTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, held_from, SECTIONS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, held_to, SECTIONS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 10000;
  const char *wrong = NULL;
  long round;
  int me, size, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != RANKS || rounds <= 0) {
    if (me == 0) fprintf(stderr, "run it with %d processes; the argument is a number of rounds\n", RANKS);
    MPI_Finalize();
    return 2;
  }
  ARMCI_Init();
  must(ARMCI_Malloc((void **)base, PART_BYTES));
  must(ARMCI_Create_mutexes(2));
  for (i = 0; i < HANDLES; ++i) ARMCI_INIT_HANDLE(&handles[i]);
  (void)linger, (void)gather, (void)now, (void)token; /* not every program needs them */
  for (round = 1; round <= rounds && wrong == NULL; ++round) {
    round_of(me);
    wrong = verdict(); /* the same everywhere, from the same values */
  }
  if (me == 0 && wrong != NULL) {
    printf("VIOLATION in round %ld: %s\n", round - 1, wrong);
    for (i = 0; i < SLOTS - 1; ++i) printf("  seen[%d] = 0x%lx\n", i, (unsigned long)seen[i]);
  } else if (me == 0) {
    printf("%ld rounds, all legal\n", rounds);
  }
  ARMCI_Destroy_mutexes();
  ARMCI_Free(base[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return wrong != NULL;
}
)c";

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_EMIT_C_TEMPLATE_H_
