#include "impl/runtime/message_collectives.h"

#include <bit>
#include <cstring>

#include "impl/runtime/mpi_library.h"
#include "impl/runtime/mpi_wait.h"

namespace armci::runtime {
namespace {

constexpr node::WaitKind kKind = node::WaitKind::kCollective;

// One communicator may have both: a barrier of the masters, and a reduction in their scope by another thread.
constexpr int kBarrierTag = 1;
constexpr int kTag = 2;

struct Elements {
  void* x;
  int n;
  MPI_Datatype type;
  MPI_Op op;
  std::size_t bytes;
};

// x = theirs op x where `theirs` are of lower ranks, else x op theirs: both sides of an exchange get the same bits, for
// zeros of different signs too.
Status combine(const Elements& of, void* theirs, bool theirs_first) {
  if (theirs_first) {
    ARMCI_MPI(MPI_Reduce_local(theirs, of.x, of.n, of.type, of.op));
    return kSuccess;
  }
  ARMCI_MPI(MPI_Reduce_local(of.x, theirs, of.n, of.type, of.op));
  std::memcpy(of.x, theirs, of.bytes);
  return kSuccess;
}

// Recursive doubling among as many processes as the largest power of two; each of the rest has a partner there:
//
//   ranks            0   1   2   3   4   5
//   rest to partner  0<----------4          1<----------5
//   round 1          0---1   2---3
//   round 2          0-------2   1-------3
//   partner to rest  0---------->4          1---------->5
Status reduce_by_messages(const Elements& of, MPI_Comm comm) {
  alignas(std::max_align_t) char theirs[kByMessagesBytes];
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int doubling = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  if (rank >= doubling) {
    ARMCI_RETURN_IF_ERROR(send(kKind, of.x, of.bytes, rank - doubling, kTag, comm));
    return receive(kKind, of.x, of.bytes, rank - doubling, kTag, comm);
  }
  const bool has_partner = rank + doubling < size;
  if (has_partner) {
    ARMCI_RETURN_IF_ERROR(receive(kKind, theirs, of.bytes, rank + doubling, kTag, comm));
    ARMCI_RETURN_IF_ERROR(combine(of, theirs, false));
  }
  for (int distance = 1; distance < doubling; distance *= 2) {
    const int other = rank ^ distance;
    ARMCI_RETURN_IF_ERROR(exchange(kKind, of.x, other, theirs, other, of.bytes, kTag, comm));
    ARMCI_RETURN_IF_ERROR(combine(of, theirs, other < rank));
  }
  return has_partner ? send(kKind, of.x, of.bytes, rank + doubling, kTag, comm) : kSuccess;
}

// A binomial tree. Process i counts from the root; the data come from i without its lowest bit, and go on to those that
// differ from i in a lower bit.
//
//   i   0 -> 4, 2, 1      2 -> 3      4 -> 6, 5      6 -> 7
Status broadcast_by_messages(void* buf, int bytes, int root, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto rank_of = [=](int i) { return (i + root) % size; };
  const int me = (rank - root + size) % size;
  const std::size_t length = static_cast<std::size_t>(bytes);
  int bit = 1;
  while (bit < size && (me & bit) == 0) bit *= 2;
  if (me != 0) {
    ARMCI_RETURN_IF_ERROR(receive(kKind, buf, length, rank_of(me - bit), kTag, comm));
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (me + bit >= size) continue;
    ARMCI_RETURN_IF_ERROR(send(kKind, buf, length, rank_of(me + bit), kTag, comm));
  }
  return kSuccess;
}

}  // namespace

bool needs_barrier(std::size_t bytes) { return library_waits() && !kIallreduceIsFast && bytes > kByMessagesBytes; }

// Dissemination: after round k each process has heard, directly or not, of the 2^k before it. As fast as MPI_Barrier,
// which offers no sleep, and faster than MPI_Ibarrier.
Status barrier_by_messages(node::WaitKind kind, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (rank + distance) % size;
    const int from = (rank - distance + size) % size;
    ARMCI_RETURN_IF_ERROR(exchange(kind, nullptr, to, nullptr, from, 0, kBarrierTag, comm));
  }
  return kSuccess;
}

Status reduce_to_all(void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (library_waits()) {
    int element_bytes = 0;
    ARMCI_MPI(MPI_Type_size(type, &element_bytes));
    const std::size_t bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(element_bytes);
    if (bytes <= kByMessagesBytes) return reduce_by_messages({x, n, type, op, bytes}, comm);
    if (kIallreduceIsFast) {
      MPI_Request request = MPI_REQUEST_NULL;
      ARMCI_MPI(MPI_Iallreduce(MPI_IN_PLACE, x, n, type, op, comm, &request));
      return complete(kKind, &request);
    }
  }
  const node::CollectiveWait waiting;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, x, n, type, op, comm));
  return kSuccess;
}

Status reduce_to_first(const void* contribution, void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!library_waits()) {
    const node::CollectiveWait waiting;
    ARMCI_MPI(MPI_Reduce(contribution, x, n, type, op, 0, comm));
    return kSuccess;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Ireduce(contribution, x, n, type, op, 0, comm, &request));
  return complete(kKind, &request);
}

Status broadcast(void* buf, int bytes, int root, MPI_Comm comm) {
  if (!library_waits()) {
    const node::CollectiveWait waiting;
    ARMCI_MPI(MPI_Bcast(buf, bytes, MPI_BYTE, root, comm));
    return kSuccess;
  }
  if (static_cast<std::size_t>(bytes) <= kByMessagesBytes) return broadcast_by_messages(buf, bytes, root, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Ibcast(buf, bytes, MPI_BYTE, root, comm, &request));
  return complete(kKind, &request);
}

Status all_gather(void* all, int bytes, MPI_Comm comm) {
  if (!library_waits()) {
    const node::CollectiveWait waiting;
    ARMCI_MPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, MPI_BYTE, comm));
    return kSuccess;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, MPI_BYTE, comm, &request));
  return complete(kKind, &request);
}

}  // namespace armci::runtime
