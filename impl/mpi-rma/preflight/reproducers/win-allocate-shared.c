/* win-allocate-shared: there is no window of MPI_Win_allocate_shared, or its memory is not what other processes of the
 * node store there.
 *
 * Control: the processes of the node exchange messages.
 *
 *   mpicc win-allocate-shared.c -o win-allocate-shared && mpiexec -n 2 ./win-allocate-shared
 */
#include "reproducer.h"

/* Each process sends a number to the next one on its node, by a message or by a store. */
static int exchange_wrong(MPI_Comm node, int by_store) {
  int me, members, unit;
  MPI_Aint bytes;
  int64_t got = -1, *mine = NULL, *next = NULL;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &members);
  const int64_t sent = 100 + me, expected = 100 + (me + members - 1) % members;
  if (!by_store) {
    MPI_Sendrecv(&sent, 1, MPI_INT64_T, (me + 1) % members, 0, &got, 1, MPI_INT64_T, (me + members - 1) % members, 0,
                 node, MPI_STATUS_IGNORE);
    return got != expected;
  }
  if (no_such_window(MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, node, &mine, &win))) return 1;
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
  begin(&argc, &argv, 20);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  control(exchange_wrong(node, 0));
  return verdict(exchange_wrong(node, 1));
}
