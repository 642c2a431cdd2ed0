#include "impl/common/process_barrier.h"

#include <array>
#include <cstdint>
#include <optional>

#include "impl/shmem/inside_mpi.h"
#include "impl/shmem/socket_watch.h"
#include "impl/shmem/waiter.h"

namespace armci::common {
namespace {

constexpr int kTestsAfterArrival = 20;

// MPI_Testall serves the other processes as a call of MPI that waits does. The progress thread serves them while this
// thread sleeps.
Status wait_for_messages(std::array<MPI_Request, 2>* requests, node::SocketWatch* sockets) {
  node::Waiter waiter(node::WaitKind::kOtherNodes);
  std::optional<node::InsideMpi> inside(std::in_place);
  int tests_at_once = 0;
  while (true) {
    int done = 0;
    ARMCI_MPI(MPI_Testall(static_cast<int>(requests->size()), requests->data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) return kSuccess;
    if (--tests_at_once > 0) continue;
    // The waiter polls as long as for a long message. MPI passes messages on only while it is called.
    const std::int64_t us = waiter.pause_us(/*streaming=*/true);
    if (us == 0) continue;
    inside.reset();
    sockets->scan_when_due();
    const bool arrived = sockets->sleep(us);
    inside.emplace();
    // One MPI_Testall may leave data unread, for which the socket has no other edge.
    tests_at_once = arrived ? kTestsAfterArrival : 0;
  }
}

// Dissemination: after round k each process has heard, directly or not, of the 2^k before it. As fast as MPI_Barrier,
// which offers no sleep, and faster than MPI_Ibarrier.
Status exchange_messages(MPI_Comm comm) {
  constexpr int kTag = 1;
  // Of all threads, which may be in barriers of several groups. No destructor: one of the program may wait in a
  // barrier.
  static node::SocketWatch& sockets = *new node::SocketWatch;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int distance = 1; distance < size; distance *= 2) {
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ARMCI_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank - distance + size) % size, kTag, comm, &requests[0]));
    ARMCI_MPI(MPI_Isend(nullptr, 0, MPI_BYTE, (rank + distance) % size, kTag, comm, &requests[1]));
    ARMCI_RETURN_IF_ERROR(wait_for_messages(&requests, &sockets));
  }
  return kSuccess;
}

}  // namespace

// A master that cannot have the masters' communicator opens its own node. The other nodes wait for it: MPI has failed.
Status barrier_between_nodes(Group& group) {
  if (!group.is_master()) {
    node::barrier_follow(group.barrier);
    return kSuccess;
  }
  node::barrier_gather(group.barrier, static_cast<int>(group.on_node().size()));
  MPI_Comm masters = MPI_COMM_NULL;
  Status status = group.scope_comm(Scope::kMasters, &masters);
  if (status.ok()) status = exchange_messages(masters);
  node::barrier_release(group.barrier);
  return status;
}

}  // namespace armci::common
