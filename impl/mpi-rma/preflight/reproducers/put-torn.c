/* put-torn: MPI_Put and MPI_Accumulate of many bytes arrive in pieces that end inside elements: a load at the target
 * sees an element of which a part is new. MPI_Put is tried.
 *
 * Control: the same with a put of 1 KiB, which is one piece.
 *
 *   mpicc put-torn.c -o put-torn && mpiexec -n 2 ./put-torn
 *
 * MPI allows it: a load may not race with a put. Where UCX is below, UCX_TCP_TX_SEG_SIZE=8196,
 * UCX_POSIX_SEG_SIZE=2084 and UCX_SYSV_SEG_SIZE=2084 make pieces of whole elements.
 */
#include <pthread.h>

#include "reproducer.h"

enum { kElements = 8192, kControlElements = 128, kTag = 1, kRounds = 100 };
static const uint64_t kUnit = 0x0101010101010101; /* every byte of what is put is the same */
static const double kSeconds = 4;

static uint64_t *words;

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
  const volatile uint64_t *here = words;
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
  begin(&argc, &argv, 40);
  if (posix_memalign((void **)&words, 4096, kElements * sizeof *words)) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(words, 0, kElements * sizeof *words);
  create_window(words, kElements * sizeof *words);
  control(torn(kControlElements, kSeconds / 4));
  const int wrong = torn(kElements, kSeconds);
  say(wrong ? "fault: present" : "fault: absent");
  free_window();
  free(words);
  MPI_Finalize();
  return wrong;
}
