#include <mpi.h>

#include <atomic>

#include "impl/testing/messages/sent.h"

namespace {
std::atomic<std::uint64_t> sent{0};
}

namespace armci::runtime::testing {
std::uint64_t sent_messages() { return sent.load(); }
Way way() { return Way::kOnDemand; }
}  // namespace armci::runtime::testing

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  sent.fetch_add(1);
  return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
  sent.fetch_add(1);
  return PMPI_Send(data, count, type, rank, tag, comm);
}

}  // extern "C"
