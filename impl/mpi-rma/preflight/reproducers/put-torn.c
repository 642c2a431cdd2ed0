/* put-torn: MPI_Put and MPI_Accumulate of many bytes arrive in pieces that end inside elements: a load at the target
 * sees an element of which a part is new. MPI_Put is tried.
 *
 * Control: the same with a put of 1 KiB, which is one piece.
 *
 *   mpicc put-torn.c -o put-torn && mpiexec -n 2 ./put-torn
 *
 * Status 0: fault absent; 1: present; 2: the control fails. MPI allows it: a load may not race with a put. Where UCX is
 * below, UCX_TCP_TX_SEG_SIZE=8196, UCX_POSIX_SEG_SIZE=2084 and UCX_SYSV_SEG_SIZE=2084 make pieces of whole elements.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kDeadlineSeconds = 40 };

static int rank, size, other;

static void begin(int *argc, char ***argv) {
  int provided;
  alarm(kDeadlineSeconds);
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

/* The faulty path comes after it, so that its word is out if that ends the process. */
static void control(int wrong) {
  if (!anywhere(wrong)) {
    say("control: ok");
    return;
  }
  say("control: failed");
  MPI_Finalize();
  exit(2);
}

enum { kElements = 8192, kControlElements = 128, kTag = 1, kRounds = 100 };
static const uint64_t kUnit = 0x0101010101010101; /* every byte of what is put is the same */
static const double kSeconds = 4;

static uint64_t *memory;
static MPI_Win win;

/* Rank 0 puts other values again and again. */
static void put_elements(int elements, double seconds) {
  static uint64_t values[kElements];
  const double end = MPI_Wtime() + seconds;
  for (int round = 0; MPI_Wtime() < end; round = (round + 1) % kRounds) {
    for (int i = 0; i < elements; ++i) values[i] = kUnit * (uint64_t)round;
    MPI_Put(values, elements, MPI_UINT64_T, other, 0, elements, MPI_UINT64_T, win);
    MPI_Win_flush(other, win);
  }
  MPI_Send(NULL, 0, MPI_INT, other, kTag, MPI_COMM_WORLD);
}

static volatile int done;

static void *poll_mpi(void *unused) {
  int found = 0;
  while (!found) MPI_Iprobe(0, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Recv(NULL, 0, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  done = 1;
  return unused;
}

/* Rank 1 reads its memory, with a thread of it inside MPI, until rank 0 is done. */
static int torn_element(int elements) {
  const volatile uint64_t *here = memory;
  pthread_t thread;
  int torn = 0;
  done = 0;
  pthread_create(&thread, NULL, poll_mpi, NULL);
  while (!done) {
    for (int i = 0; i < elements; ++i) {
      const uint64_t value = here[i];
      torn |= value != kUnit * (value & 0xff);
    }
  }
  pthread_join(thread, NULL);
  return torn;
}

static int torn(int elements, double seconds) {
  int here = 0;
  if (rank == 0) put_elements(elements, seconds);
  if (rank == 1) here = torn_element(elements);
  return anywhere(here);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  memory = aligned_alloc(4096, kElements * sizeof *memory);
  memset(memory, 0, kElements * sizeof *memory);
  MPI_Win_create(memory, kElements * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(torn(kControlElements, kSeconds / 4));
  const int wrong = torn(kElements, kSeconds);
  say(wrong ? "fault: present" : "fault: absent");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(memory);
  MPI_Finalize();
  return wrong;
}
