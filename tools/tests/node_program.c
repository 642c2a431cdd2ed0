/* A job on nodes as it sees itself: which ranks share memory, and which bytes cross the network.
 *
 *   node_program         prints a line per rank: RANK NODE SHARED, then NETWORK KIND BYTES from rank 0 for each kind
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 4 << 20 };

/* Bytes that this node's eth0 has received. */
static long long received(void) {
  FILE *file = fopen("/proc/net/dev", "r");
  char line[512];
  long long bytes = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, " eth0: %lld", &bytes) == 1) break;
  }
  if (file != NULL) fclose(file);
  return bytes;
}

/* The last rank sends to rank 0, or rank 1 does; what rank 0's node received meanwhile. */
static void send_and_count(const char *kind, int from, int rank, char *buffer) {
  MPI_Barrier(MPI_COMM_WORLD);
  const long long before = received();
  if (rank == from) MPI_Send(buffer, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(buffer, kBytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("NETWORK %s %lld\n", kind, received() - before);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void put_and_count(int from, int rank, char *buffer) {
  char *base = NULL;
  MPI_Win window;
  MPI_Win_allocate(rank == 0 ? kBytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (rank == 0) memset(base, 0, kBytes);
  const long long before = received();
  MPI_Win_lock_all(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == from) {
    MPI_Put(buffer, kBytes, MPI_BYTE, 0, 0, kBytes, MPI_BYTE, window);
    MPI_Win_flush(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  if (rank == 0 && base[kBytes - 1] == 'x') printf("NETWORK put %lld\n", received() - before);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

int main(int argc, char **argv) {
  int provided, rank, size, shared;
  MPI_Comm node;
  char name[64];
  char *buffer = malloc(kBytes);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &shared);
  gethostname(name, sizeof name);
  printf("RANK %d %s %d\n", rank, name, shared);
  fflush(stdout);
  memset(buffer, 'x', kBytes);
  send_and_count("far", size - 1, rank, buffer);
  if (size > 2) send_and_count("near", 1, rank, buffer);
  put_and_count(size - 1, rank, buffer);
  MPI_Finalize();
  free(buffer);
  return 0;
}
