/* request-lost: A request of MPI_Rput or MPI_Rget never completes when another thread makes progress while it is
 * started.
 *
 * Control: the same without the thread.
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

enum { kWords = 64, kAtOnce = 32, kRounds = 3000 };
static const double kPatienceSeconds = 5;

static long *memory;
static MPI_Win win;
static volatile int leaving;
static MPI_Comm polled;

static void *poll_mpi(void *unused) {
  while (!leaving) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, polled, &found, MPI_STATUS_IGNORE);
    usleep(20); /* pauses between the looks, so that they meet starts of requests at any point */
  }
  return unused;
}

/* Whether a request is still open when patience ends: several are under way at a time. */
static int lost(void) {
  static long buffer[kAtOnce][kWords];
  int missing = 0;
  for (int round = 0; round < kRounds && !missing; ++round) {
    MPI_Request requests[kAtOnce];
    MPI_Status statuses[kAtOnce];
    int done = 0;
    for (int i = 0; i < kAtOnce; ++i) {
      if (round % 2 == 0) {
        MPI_Rget(buffer[i], kWords, MPI_LONG, other, 0, kWords, MPI_LONG, win, &requests[i]);
      } else {
        MPI_Rput(buffer[i], kWords, MPI_LONG, other, 0, kWords, MPI_LONG, win, &requests[i]);
      }
    }
    for (const double end = MPI_Wtime() + kPatienceSeconds; !done && MPI_Wtime() < end;) {
      MPI_Testall(kAtOnce, requests, &done, statuses);
    }
    missing = !done;
  }
  return missing;
}

int main(int argc, char **argv) {
  pthread_t thread;
  begin(&argc, &argv);
  memory = calloc(kWords, sizeof *memory);
  MPI_Comm_dup(MPI_COMM_WORLD, &polled);
  MPI_Win_create(memory, kWords * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  control(lost());
  pthread_create(&thread, NULL, poll_mpi, NULL);
  const int wrong = anywhere(lost());
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
