#include <mpi.h>

#include <atomic>

#include "impl/testing/messages/sent.h"

namespace {

std::atomic<std::uint64_t> sent{0};

// An operation on the window of this process itself needs no message. Groups of windows are the world here.
void count(int target) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (target != rank) sent.fetch_add(1);
}

}  // namespace

namespace armci::runtime::testing {
std::uint64_t sent_messages() { return sent.load(); }
Way way() { return Way::kWindows; }
}  // namespace armci::runtime::testing

extern "C" {

int MPI_Isend(const void* data, int count_of, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count(rank);
  return PMPI_Isend(data, count_of, type, rank, tag, comm, request);
}

int MPI_Put(const void* from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint at, int count_there,
            MPI_Datatype type, MPI_Win window) {
  count(rank);
  return PMPI_Put(from, from_count, from_type, rank, at, count_there, type, window);
}

int MPI_Rput(const void* from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint at, int count_there,
             MPI_Datatype type, MPI_Win window, MPI_Request* request) {
  count(rank);
  return PMPI_Rput(from, from_count, from_type, rank, at, count_there, type, window, request);
}

int MPI_Get(void* to, int to_count, MPI_Datatype to_type, int rank, MPI_Aint at, int count_there, MPI_Datatype type,
            MPI_Win window) {
  count(rank);
  return PMPI_Get(to, to_count, to_type, rank, at, count_there, type, window);
}

int MPI_Rget(void* to, int to_count, MPI_Datatype to_type, int rank, MPI_Aint at, int count_there, MPI_Datatype type,
             MPI_Win window, MPI_Request* request) {
  count(rank);
  return PMPI_Rget(to, to_count, to_type, rank, at, count_there, type, window, request);
}

int MPI_Accumulate(const void* from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint at, int count_there,
                   MPI_Datatype type, MPI_Op op, MPI_Win window) {
  count(rank);
  return PMPI_Accumulate(from, from_count, from_type, rank, at, count_there, type, op, window);
}

int MPI_Fetch_and_op(const void* from, void* before, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  count(rank);
  return PMPI_Fetch_and_op(from, before, type, rank, at, op, window);
}

int MPI_Compare_and_swap(const void* from, const void* compare, void* before, MPI_Datatype type, int rank, MPI_Aint at,
                         MPI_Win window) {
  count(rank);
  return PMPI_Compare_and_swap(from, compare, before, type, rank, at, window);
}

}  // extern "C"
