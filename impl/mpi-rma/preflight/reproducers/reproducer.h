/* The parts that all reproducers here share. Each program includes this file and adds its fault: a comment and a few
 * calls. `tools/armci mpi-doctor` replaces the #include by those parts of this file that the program uses. One file of
 * plain C99 and MPI is thus compiled, run, and sent to the maintainers of an MPI library.
 *
 * The tool takes or leaves whole paragraphs. An empty line ends a paragraph, and stands nowhere inside a declaration.
 */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, other; /* `other` is the next process */

/* Initializes MPI. The alarm ends a process that hangs.
 *
 * Status of the program: 0: fault absent; 1: present; 2: the control fails. A process that crashes or runs into the
 * alarm after `control: ok` has met the fault as well.
 */
static void begin(int *argc, char ***argv, int deadline_seconds) {
  int provided;
  alarm(deadline_seconds);
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  other = (rank + 1) % size;
}

/* True if it is true on any process. */
static int anywhere(int here) {
  MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return here;
}

static void say(const char *text) {
  if (rank == 0) puts(text);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The faulty path comes after the control, so that its result is out if the fault ends the process. */
static void control(int wrong) {
  if (!anywhere(wrong)) {
    say("control: ok");
    return;
  }
  say("control: failed");
  MPI_Finalize();
  exit(2);
}

static int verdict(int wrong) {
  wrong = anywhere(wrong);
  say(wrong ? "fault: present" : "fault: absent");
  MPI_Finalize();
  return wrong;
}

/* ---- windows ---- */

static MPI_Win win;

static int64_t *memory;

/* Makes stores and remote accesses of both sides visible to each other. */
static void meet(void) {
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
}

/* `memory` by MPI_Win_allocate or MPI_Win_create. Errors are returned. */
static void open_window(int allocated, MPI_Aint bytes) {
  if (allocated) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  } else {
    memory = malloc(bytes);
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  }
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  memset(memory, 0, bytes);
  MPI_Win_lock_all(0, win);
  meet();
}

static void close_window(int allocated) {
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  if (!allocated) free(memory);
}

/* A window over memory of the program. Errors are fatal. */
static void create_window(void *base, MPI_Aint bytes) {
  MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
}

static void free_window(void) {
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* ---- measurements ---- */

enum { kMeasurements = 200 };

static int by_time(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The better quarter of kMeasurements times, in seconds. */
static double quartile(double *seconds) {
  qsort(seconds, kMeasurements, sizeof *seconds, by_time);
  return seconds[kMeasurements / 4];
}

/* ---- the kinds of windows: do they move data? ---- */

/* `code` is what the call that makes a window returned. */
static int no_such_window(int code) {
  const int missing = anywhere(code != MPI_SUCCESS);
  if (missing && rank == 0) puts("there is no such window");
  return missing;
}

enum { kMovedWords = 512 };
enum { kWindowBytes = 3 * kMovedWords * sizeof(int64_t) };

/* Puts, gets and accumulates kMovedWords numbers at the target and compares. `memory` has kWindowBytes, and begins at
 * `base` of the target; a window that is `alone` has one process.
 */
static int moves_wrong(int target, int alone, MPI_Aint base) {
  static int64_t given[kMovedWords], got[kMovedWords], ones[kMovedWords];
  const MPI_Aint slot = kMovedWords * sizeof(int64_t);
  int wrong = 0;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  memset(memory, 0, kWindowBytes);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kMovedWords; ++i) {
    given[i] = 1000 * (rank + 1) + i;
    got[i] = 0;
    ones[i] = 1;
    memory[i] = 0;
    memory[kMovedWords + i] = memory[2 * kMovedWords + i] = given[i];
  }
  meet();
  wrong |= MPI_Put(given, kMovedWords, MPI_INT64_T, target, base, kMovedWords, MPI_INT64_T, win) != MPI_SUCCESS;
  wrong |= MPI_Get(got, kMovedWords, MPI_INT64_T, target, base + slot, kMovedWords, MPI_INT64_T, win) != MPI_SUCCESS;
  wrong |= MPI_Accumulate(ones, kMovedWords, MPI_INT64_T, target, base + 2 * slot, kMovedWords, MPI_INT64_T, MPI_SUM,
                          win) != MPI_SUCCESS;
  wrong |= MPI_Win_flush(target, win) != MPI_SUCCESS;
  meet();
  const int source = alone ? rank : (rank + size - 1) % size;
  for (int i = 0; i < kMovedWords; ++i) {
    wrong |= memory[i] != 1000 * (source + 1) + i;
    wrong |= got[i] != 1000 * ((alone ? rank : target) + 1) + i;
    wrong |= memory[2 * kMovedWords + i] != given[i] + 1;
  }
  MPI_Win_unlock_all(win);
  return wrong;
}

/* The same amount of data by a message. */
static int messages_wrong(void) {
  static int64_t sent[kMovedWords], got[kMovedWords];
  int wrong = 0;
  for (int i = 0; i < kMovedWords; ++i) sent[i] = 1000 * (rank + 1) + i;
  const int source = (rank + size - 1) % size;
  MPI_Sendrecv(sent, kMovedWords, MPI_INT64_T, other, 0, got, kMovedWords, MPI_INT64_T, source, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < kMovedWords; ++i) wrong |= got[i] != 1000 * (source + 1) + i;
  return wrong;
}

/* ---- transfers with datatypes ---- */

enum { kCountMax = 3000 };
enum { kRoomWords = 2 * kCountMax + 32 };

static double origin_numbers[kRoomWords], expected_numbers[kRoomWords];

static double *target_numbers; /* the memory of the window, as large as `origin_numbers` */

static void open_numbers(void) {
  target_numbers = malloc(sizeof origin_numbers);
  create_window(target_numbers, sizeof origin_numbers);
}

static void close_numbers(void) {
  free_window();
  free(target_numbers);
}

static double number_at(int owner, int place) { return 1000 * (owner + 1) + place % 997; }

/* A kind of datatypes. `make` returns one of `count` numbers and stores their places. Shape 0 is contiguous. */
typedef struct {
  MPI_Datatype (*make)(int shape, int count, int *places);
  int count_min;
} Kind;

/* Shape 1 is a vector. Shape 2 is a subarray that begins at row `skipped`, column 2 * `skipped`. */
static MPI_Datatype strided_type(int shape, int skipped, int count, int *places) {
  MPI_Datatype type;
  for (int i = 0; i < count; ++i) {
    places[i] = shape == 0 ? i : shape == 1 ? i / 4 * 6 + i % 4 : (i / 4 + skipped) * 8 + 2 * skipped + i % 4;
  }
  if (shape == 0) {
    MPI_Type_contiguous(count, MPI_DOUBLE, &type);
  } else if (shape == 1) {
    MPI_Type_create_hvector(count / 4, 4, 6 * sizeof(double), MPI_DOUBLE, &type);
  } else {
    const int sizes[] = {count / 4 + skipped, 8}, part[] = {count / 4, 4}, starts[] = {skipped, 2 * skipped};
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype strided(int shape, int count, int *places) { return strided_type(shape, 1, count, places); }
static const Kind kStrided = {strided, 4};

/* Every type begins where its buffer begins. */
static MPI_Datatype strided_at_start(int shape, int count, int *places) {
  return strided_type(shape, 0, count, places);
}
static const Kind kStridedAtStart = {strided_at_start, 4};

/* Shape 1 has gaps of 0 to 2 numbers and begins at the place `first`. */
static MPI_Datatype indexed_type(int shape, int first, int count, int *places) {
  static MPI_Aint displacements[kCountMax];
  MPI_Datatype type;
  for (int i = 0; i < count; ++i) {
    places[i] = shape == 0 ? i : i == 0 ? first : places[i - 1] + 1 + (i - 1) % 3;
    displacements[i] = places[i] * (MPI_Aint)sizeof(double);
  }
  if (shape == 0) {
    MPI_Type_contiguous(count, MPI_DOUBLE, &type);
  } else {
    MPI_Type_create_hindexed_block(count, 1, displacements, MPI_DOUBLE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype indexed(int shape, int count, int *places) { return indexed_type(shape, 5, count, places); }
static const Kind kIndexed = {indexed, 1};

/* Every type begins where its buffer begins. */
static MPI_Datatype indexed_at_start(int shape, int count, int *places) {
  return indexed_type(shape, 0, count, places);
}
static const Kind kIndexedAtStart = {indexed_at_start, 1};

/* Moves data between `origin_numbers` and the next process. On return the origin may use `origin_numbers`. */
typedef void (*Transfer)(MPI_Datatype here, MPI_Datatype there);

static int places_here[kCountMax], places_there[kCountMax]; /* of the numbers of one transfer, in their order */

/* One transfer with types of `count` numbers, and the comparison of all words, gaps as well. */
typedef int (*Trial)(Transfer transfer, MPI_Datatype here, MPI_Datatype there, int count);

static void fill(double *words, double number) {
  for (int i = 0; i < kRoomWords; ++i) words[i] = number;
}

static void fill_by_place(double *words) {
  for (int i = 0; i < kRoomWords; ++i) words[i] = number_at(rank, i);
}

/* The transfer writes to the next process, and `origin_numbers` is reused at once. */
static int stored_wrong(Transfer transfer, MPI_Datatype here, MPI_Datatype there, int count) {
  const int source = (rank + size - 1) % size;
  fill_by_place(origin_numbers);
  fill(target_numbers, -1);
  fill(expected_numbers, -1);
  meet();
  transfer(here, there);
  fill(origin_numbers, -2);
  MPI_Win_flush(other, win);
  meet();
  for (int i = 0; i < count; ++i) expected_numbers[places_there[i]] = number_at(source, places_here[i]);
  return memcmp(expected_numbers, target_numbers, sizeof expected_numbers) != 0;
}

/* The transfer adds to the numbers of the next process. */
static int summed_wrong(Transfer transfer, MPI_Datatype here, MPI_Datatype there, int count) {
  const int source = (rank + size - 1) % size;
  fill_by_place(origin_numbers);
  fill_by_place(target_numbers);
  fill_by_place(expected_numbers);
  meet();
  transfer(here, there);
  meet();
  for (int i = 0; i < count; ++i) expected_numbers[places_there[i]] += number_at(source, places_here[i]);
  return memcmp(expected_numbers, target_numbers, sizeof expected_numbers) != 0;
}

/* The transfer reads from the next process, and the data must be here when it returns. */
static int fetched_wrong(Transfer transfer, MPI_Datatype here, MPI_Datatype there, int count) {
  fill(origin_numbers, -1);
  fill_by_place(target_numbers);
  fill(expected_numbers, -1);
  meet();
  for (int i = 0; i < count; ++i) expected_numbers[places_here[i]] = number_at(other, places_there[i]);
  transfer(here, there);
  const int wrong = memcmp(expected_numbers, origin_numbers, sizeof expected_numbers) != 0;
  MPI_Win_flush(other, win);
  meet();
  return wrong;
}

/* Trials of the first `shapes` shapes on both sides, in four sizes. */
static int shapes_wrong(Trial trial, Transfer transfer, Kind kind, int shapes, int repeats) {
  const int counts[] = {kind.count_min, 24, 360, kCountMax}, pairs = shapes * shapes;
  int wrong = 0;
  for (int i = 0; i < repeats * pairs * 4; ++i) {
    const int count = counts[i % 4], pair = i / 4 % pairs;
    MPI_Datatype here = kind.make(pair / shapes, count, places_here);
    MPI_Datatype there = kind.make(pair % shapes, count, places_there);
    wrong |= trial(transfer, here, there, count);
    meet();
    MPI_Type_free(&here);
    MPI_Type_free(&there);
  }
  return wrong;
}
