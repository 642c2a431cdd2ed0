/* dynamic-pieces: transfers to the second piece of memory that a process attached to a dynamic window end the process.
 *
 * Control: the same with one piece.
 *
 *   mpicc dynamic-pieces.c -o dynamic-pieces && mpiexec -n 2 ./dynamic-pieces
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

static int rank, size;

static void begin(int *argc, char ***argv) {
  int provided;
  alarm(kDeadlineSeconds);
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
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

enum { kBytes = 25600, kRounds = 50, kPiecesMax = 2 };

static const MPI_Aint kPieceBytes = (MPI_Aint)1 << 20;

/* Process 0 puts to the pieces of process 1 in turn, and gets back what it put. */
static int transfers_wrong(int pieces) {
  MPI_Win win;
  MPI_Aint base = 0;
  char *block = calloc(kPiecesMax, kPieceBytes);
  char *sent = malloc(kBytes), *got = malloc(kBytes);
  int wrong = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  for (int i = 0; rank == 1 && i < pieces; ++i) MPI_Win_attach(win, block + i * kPieceBytes, kPieceBytes);
  MPI_Get_address(block, &base);
  MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < kRounds; ++k) {
    const MPI_Aint at = MPI_Aint_add(base, k % pieces * kPieceBytes + 4096);
    memset(sent, k + 1, kBytes);
    MPI_Put(sent, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
    MPI_Get(got, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
    wrong |= memcmp(sent, got, kBytes) != 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  for (int i = 0; rank == 1 && i < pieces; ++i) MPI_Win_detach(win, block + i * kPieceBytes);
  MPI_Win_free(&win);
  free(block);
  free(sent);
  free(got);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  control(transfers_wrong(1));
  return verdict(transfers_wrong(kPiecesMax));
}
