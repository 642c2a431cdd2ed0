/* win-allocate-shared: there is no window of MPI_Win_allocate_shared, or its memory is not what other processes of the
 * node store there.
 *
 * Control: the processes of the node exchange messages.
 *
 *   mpicc win-allocate-shared.c -o win-allocate-shared && mpiexec -n 2 ./win-allocate-shared
 *
 * Status 0: fault absent; 1: present; 2: the control fails. A process that crashes or runs into the alarm after
 * `control: ok` has met the fault as well.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kDeadlineSeconds = 20 };

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

static int verdict(int wrong) {
  wrong = anywhere(wrong);
  say(wrong ? "fault: present" : "fault: absent");
  MPI_Finalize();
  return wrong;
}

/* What each process sends to the next on its node, by a message or by a store. */
static int exchange_wrong(MPI_Comm node, int by_store) {
  int me, members, unit;
  MPI_Aint bytes;
  MPI_Win win;
  int64_t got = -1, *mine = NULL, *next = NULL;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &members);
  const int64_t sent = 100 + me, expected = 100 + (me + members - 1) % members;
  if (!by_store) {
    MPI_Sendrecv(&sent, 1, MPI_INT64_T, (me + 1) % members, 0, &got, 1, MPI_INT64_T, (me + members - 1) % members, 0,
                 node, MPI_STATUS_IGNORE);
    return got != expected;
  }
  if (anywhere(MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, node, &mine, &win) != MPI_SUCCESS)) {
    if (rank == 0) puts("there is no such window");
    return 1;
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  MPI_Win_shared_query(win, (me + 1) % members, &bytes, &unit, &next);
  *next = sent;
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
  got = *mine;
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  return got != expected;
}

int main(int argc, char **argv) {
  MPI_Comm node;
  begin(&argc, &argv);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  control(exchange_wrong(node, 0));
  return verdict(exchange_wrong(node, 1));
}
