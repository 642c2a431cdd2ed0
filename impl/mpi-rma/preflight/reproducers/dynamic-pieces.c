/* dynamic-pieces: transfers to the second piece of memory that a process attached to a dynamic window end the process.
 *
 * Control: the same with one piece.
 *
 *   mpicc dynamic-pieces.c -o dynamic-pieces && mpiexec -n 2 ./dynamic-pieces
 */
#include "reproducer.h"

enum { kBytes = 25600, kRounds = 50, kPiecesMax = 2 };

static const MPI_Aint kPieceBytes = (MPI_Aint)1 << 20;

/* Process 0 puts to the pieces of process 1 in turn, and gets back what it put. */
static int transfers_wrong(int pieces) {
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
  begin(&argc, &argv, 20);
  control(transfers_wrong(1));
  return verdict(transfers_wrong(kPiecesMax));
}
