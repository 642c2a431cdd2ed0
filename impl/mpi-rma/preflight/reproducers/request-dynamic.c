/* request-dynamic: MPI_Rput or MPI_Rget to a dynamic window reads a key where none is, which ends the process in some
 * runs. Where it reads depends on the heap, which is therefore filled with bytes that are no key.
 *
 * Seen with Open MPI 4 on one node with OMPI_MCA_osc=ucx.
 *
 * Control: the same by MPI_Put and MPI_Get.
 *
 *   mpicc request-dynamic.c -o request-dynamic && mpiexec -n 2 ./request-dynamic
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
  static char memory[kBytes], sent[kBytes], got[kBytes];
  MPI_Win win;
  MPI_Aint at = 0;
  int wrong = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  if (rank == 1) MPI_Win_attach(win, memory, kBytes);
  MPI_Get_address(memory, &at);
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
  if (rank == 1) MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  fill_heap();
  control(transfers_wrong(0));
  return verdict(transfers_wrong(1));
}
