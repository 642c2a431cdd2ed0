#include "impl/runtime/process_barrier.h"

#include <cstdint>
#include <optional>

#include "impl/node/inside_mpi.h"
#include "impl/node/mpi_progress.h"
#include "impl/node/socket_watch.h"
#include "impl/node/waiter.h"

namespace armci::runtime {
namespace {

constexpr int kTestsAfterArrival = 20;

// MPI_Test and the pass serve the other processes as a call of MPI that waits does. The progress thread serves them
// while this thread sleeps.
Status complete(MPI_Request* request, node::SocketWatch* sockets) {
  node::Waiter waiter(node::WaitKind::kOtherNodes);
  std::optional<node::InsideMpi> inside(std::in_place);
  int tests_at_once = 0;
  while (true) {
    int done = 0;
    ARMCI_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return kSuccess;
    node::make_mpi_pass();
    if (--tests_at_once > 0) continue;
    // The waiter polls as long as for a long message. MPI passes messages on only while it is called.
    const std::int64_t us = waiter.pause_us(/*streaming=*/true);
    if (us == 0) continue;
    inside.reset();
    sockets->scan_when_due();
    const bool arrived = sockets->sleep(us);
    inside.emplace();
    // One MPI_Test may leave data unread, for which the socket has no other edge.
    tests_at_once = arrived ? kTestsAfterArrival : 0;
  }
}

// No later barrier may match a receive of this one.
void abandon(MPI_Request* receive) {
  if (*receive == MPI_REQUEST_NULL) return;
  MPI_Cancel(receive);
  MPI_Request_free(receive);
}

// Neither blocks inside MPI while a connection is made, as MPI_Sendrecv does.
Status exchange_message(MPI_Comm comm, int to, int from, node::SocketWatch* sockets) {
  constexpr int kTag = 1;
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, from, kTag, comm, &receive));
  const auto exchange = [&]() -> Status {
    ARMCI_MPI(MPI_Isend(nullptr, 0, MPI_BYTE, to, kTag, comm, &send));
    ARMCI_RETURN_IF_ERROR(complete(&receive, sockets));
    return complete(&send, sockets);
  };
  const Status status = exchange();
  if (!status.ok()) abandon(&receive);
  return status;
}

// Dissemination: after round k each process has heard, directly or not, of the 2^k before it. As fast as MPI_Barrier,
// which offers no sleep, and faster than MPI_Ibarrier.
Status exchange_messages(MPI_Comm comm) {
  // All threads share this watch. The watch is never destroyed, because a destructor of the program may wait in a
  // barrier.
  static node::SocketWatch& sockets = *new node::SocketWatch;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int distance = 1; distance < size; distance *= 2) {
    ARMCI_RETURN_IF_ERROR(exchange_message(comm, (rank + distance) % size, (rank - distance + size) % size, &sockets));
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

}  // namespace armci::runtime
