/* request-lost: A request of MPI_Rput or MPI_Rget never completes when another thread makes progress while it is
 * started. MPI_Rget is tried.
 *
 * Control: the same without the thread. Between two machines, or two network namespaces, it takes seconds at most; on
 * one machine it was not seen.
 *
 *   mpicc request-lost.c -o request-lost && mpiexec -n 2 ./request-lost
 */
#include <pthread.h>

#include "reproducer.h"

enum { kBytes = 64, kPollMicroseconds = 100 };
static const double kSeconds = 10, kPatienceSeconds = 3;

static char *bytes;
static volatile int leaving;
static MPI_Comm polled;

static void *poll_mpi(void *unused) {
  while (!leaving) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, polled, &found, MPI_STATUS_IGNORE);
    usleep(kPollMicroseconds);
  }
  return unused;
}

/* Whether one of many gets, started one after the other is complete, is still open when patience ends. */
static int lost(double seconds) {
  static char buffer[kBytes]; /* for as long as the one that is lost may still write to it */
  int done = 1;
  for (const double end = MPI_Wtime() + seconds; done && MPI_Wtime() < end;) {
    MPI_Request request;
    MPI_Rget(buffer, kBytes, MPI_CHAR, other, 0, kBytes, MPI_CHAR, win, &request);
    done = 0;
    for (const double limit = MPI_Wtime() + kPatienceSeconds; !done && MPI_Wtime() < limit;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
  }
  return !done;
}

/* Rank 0 gets; the others are inside MPI, which serves it. */
static int lost_by_first(double seconds) {
  int here = rank == 0 && lost(seconds);
  MPI_Bcast(&here, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return here;
}

int main(int argc, char **argv) {
  pthread_t thread;
  begin(&argc, &argv, 40);
  bytes = calloc(kBytes, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &polled);
  create_window(bytes, kBytes);
  control(lost_by_first(kSeconds / 5));
  pthread_create(&thread, NULL, poll_mpi, NULL);
  const int wrong = lost_by_first(kSeconds);
  leaving = 1;
  pthread_join(thread, NULL);
  say(wrong ? "fault: present" : "fault: absent");
  /* An open request cannot be waited for: no orderly end. */
  if (wrong) _exit(1);
  free_window();
  MPI_Finalize();
  return 0;
}
