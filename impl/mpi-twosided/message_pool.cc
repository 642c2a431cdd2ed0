#include "impl/mpi-twosided/message_pool.h"

#include <new>

namespace armci::twosided {

Status Comms::duplicate(MPI_Comm all) {
  for (MPI_Comm* comm : {&requests, &replies, &data, &forwards}) ARMCI_MPI(MPI_Comm_dup(all, comm));
  return kSuccess;
}

void Comms::free() {
  for (MPI_Comm* comm : {&requests, &replies, &data, &forwards}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

// All messages have one, mostly not 0.
std::atomic_ref<std::uint32_t> MessagePool::first_word(const Buffer& buffer) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(buffer.data.get()));
}

bool MessagePool::has_arrived() const {
  return !posted_.empty() && first_word(*posted_.front()).load(std::memory_order_relaxed) != 0;
}

Status MessagePool::open(std::size_t count, const char* purpose) {
  try {
    buffers_.resize(count);
    for (Buffer& buffer : buffers_) buffer.data.reset(new char[bytes_]);
  } catch (const std::bad_alloc&) {
    return fail(Code::kMemory, nullptr,
                "the process has no memory for %zu buffers of %zu bytes for %s; set ARMCI_SERVER_BUFFERS or "
                "ARMCI_SERVER_BUFFER_BYTES "
                "lower, or ARMCI_SERVER_CLUSTER higher",
                count, bytes_, purpose);
  }
  for (Buffer& buffer : buffers_) ARMCI_RETURN_IF_ERROR(post(&buffer));
  return kSuccess;
}

void MessagePool::close() {
  for (Buffer* buffer : posted_) {
    MPI_Cancel(&buffer->request);
    MPI_Wait(&buffer->request, MPI_STATUS_IGNORE);
  }
  posted_.clear();
}

Status MessagePool::take(Received* received) {
  received->buffer = nullptr;
  if (posted_.empty()) return kSuccess;
  MPI_Status status;
  int arrived = 0;
  ARMCI_MPI(MPI_Test(&posted_.front()->request, &arrived, &status));
  if (arrived == 0) return kSuccess;
  int bytes = 0;
  ARMCI_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
  *received = {posted_.front(), status.MPI_SOURCE, static_cast<std::size_t>(bytes)};
  posted_.pop_front();
  return kSuccess;
}

Status MessagePool::post(Buffer* buffer) {
  ARMCI_MPI(MPI_Wait(&buffer->request, MPI_STATUS_IGNORE));
  first_word(*buffer).store(0, std::memory_order_relaxed);
  ARMCI_MPI(
      MPI_Irecv(buffer->data.get(), static_cast<int>(bytes_), MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &buffer->request));
  posted_.push_back(buffer);
  return kSuccess;
}

}  // namespace armci::twosided
