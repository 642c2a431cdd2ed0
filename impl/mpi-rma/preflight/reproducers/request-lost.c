/* request-lost: A request of MPI_Rput or MPI_Rget never completes when another thread makes progress while it is
 * started. MPI_Rget is tried.
 *
 * Control: the same without the thread. Between two machines, or two network namespaces, it takes seconds at most; on
 * one machine it was not seen.
 *
 *   mpicc request-lost.c -o request-lost && mpiexec -n 2 ./request-lost
 *
 * Status 0: fault absent; 1: present; 2: the control fails. A process that crashes or runs into the alarm after
 * `control: ok` has met the fault as well.
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

enum { kBytes = 64, kPollMicroseconds = 100 };
static const double kSeconds = 10, kPatienceSeconds = 3;

static char *memory;
static MPI_Win win;
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
  begin(&argc, &argv);
  memory = calloc(kBytes, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &polled);
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(lost_by_first(kSeconds / 5));
  pthread_create(&thread, NULL, poll_mpi, NULL);
  const int wrong = lost_by_first(kSeconds);
  leaving = 1;
  pthread_join(thread, NULL);
  say(wrong ? "fault: present" : "fault: absent");
  /* An open request cannot be waited for: no orderly end. */
  if (wrong) _exit(1);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
