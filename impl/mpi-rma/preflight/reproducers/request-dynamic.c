/* request-dynamic: MPI_Rput or MPI_Rget to a dynamic window reads a key where none is, which ends the process in some
 * runs. Where it reads depends on the heap, which is therefore filled with bytes that are no key.
 *
 * Seen with Open MPI 4 on one node with OMPI_MCA_osc=ucx.
 *
 * Control: the same by MPI_Put and MPI_Get.
 *
 *   mpicc request-dynamic.c -o request-dynamic && mpiexec -n 2 ./request-dynamic
 */
#include "reproducer.h"

enum { kBytes = 25600, kRounds = 20, kBlockBytes = 4096, kHoles = 8 };

static const size_t kHoleBytes = 120000;

/* Which is used, as far as the compiler knows. */
static void *volatile seen;

static void *filled(size_t bytes) {
  void *block = malloc(bytes);
  memset(block, 0xff, bytes);
  seen = block;
  return block;
}

/* Holes in the heap, which the next large blocks are taken from, each between blocks of bytes that are no key. */
static void fill_heap(void) {
  void *holes[kHoles];
  for (int i = 0; i < kHoles; ++i) {
    filled(kBlockBytes);
    holes[i] = filled(kHoleBytes);
  }
  filled(kBlockBytes);
  for (int i = 0; i < kHoles; ++i) free(holes[i]);
}

static int wait_failed(int code, MPI_Request *request) {
  return code != MPI_SUCCESS || MPI_Wait(request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

/* Process 0 puts to process 1, and gets back what it put. */
static int transfers_wrong(int with_request) {
  static char piece[kBytes], sent[kBytes], got[kBytes];
  MPI_Aint at = 0;
  int wrong = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  if (rank == 1) MPI_Win_attach(win, piece, kBytes);
  MPI_Get_address(piece, &at);
  MPI_Bcast(&at, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < kRounds; ++k) {
    MPI_Request request;
    memset(sent, k + 1, kBytes);
    if (with_request) {
      wrong |= wait_failed(MPI_Rput(sent, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win, &request), &request);
    } else {
      MPI_Put(sent, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
    if (with_request) {
      wrong |= wait_failed(MPI_Rget(got, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win, &request), &request);
    } else {
      MPI_Get(got, kBytes, MPI_BYTE, 1, at, kBytes, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
    wrong |= memcmp(sent, got, kBytes) != 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  if (rank == 1) MPI_Win_detach(win, piece);
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv, 20);
  fill_heap();
  control(transfers_wrong(0));
  return verdict(transfers_wrong(1));
}
