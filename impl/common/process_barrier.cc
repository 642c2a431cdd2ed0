#include "impl/common/process_barrier.h"

#include <atomic>
#include <cstdint>
#include <optional>

#include "impl/shmem/inside_mpi.h"
#include "impl/shmem/socket_watch.h"
#include "impl/shmem/waiter.h"

namespace armci::common {
namespace {

// Threads may be in barriers of several groups. MPI opens a socket to a process at the first message between them, so
// the scans follow the first sleeps of a job.
class Sockets {
 public:
  bool sleep(std::int64_t us) {
    if (const unsigned sleeps = sleeps_.fetch_add(1, std::memory_order_relaxed); (sleeps & (sleeps - 1)) == 0)
      watch_.scan();
    return watch_.sleep(us);
  }

 private:
  node::SocketWatch watch_;
  std::atomic<unsigned> sleeps_{0};
};

constexpr int kTestsAfterArrival = 20;

// MPI_Test serves the other processes as a call of MPI that waits does. The progress thread serves them while this
// thread sleeps.
int wait_for_message(MPI_Request* request, Sockets* sockets) {
  node::Waiter waiter(node::WaitKind::kOtherNodes);
  std::optional<node::InsideMpi> inside(std::in_place);
  int tests_at_once = 0;
  while (true) {
    int done = 0;
    const int result = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS || done != 0) return result;
    if (--tests_at_once > 0) continue;
    // The waiter polls as long as for a long message. MPI passes messages on only while it is called.
    const std::int64_t us = waiter.pause_us(/*streaming=*/true);
    if (us == 0) continue;
    inside.reset();
    const bool arrived = sockets->sleep(us);
    inside.emplace();
    // One MPI_Test may leave data unread, for which the socket has no other edge.
    tests_at_once = arrived ? kTestsAfterArrival : 0;
  }
}

// Dissemination: after round k each process has heard, directly or not, of the 2^k before it. As fast as MPI_Barrier,
// which offers no sleep, and faster than MPI_Ibarrier.
int exchange_messages(MPI_Comm comm) {
  constexpr int kTag = 1;
  static Sockets& sockets = *new Sockets;  // a destructor of the program may wait in a barrier as well
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int distance = 1; distance < size; distance *= 2) {
    MPI_Request request = MPI_REQUEST_NULL;
    int result = MPI_Irecv(nullptr, 0, MPI_BYTE, (rank - distance + size) % size, kTag, comm, &request);
    if (result == MPI_SUCCESS) result = MPI_Send(nullptr, 0, MPI_BYTE, (rank + distance) % size, kTag, comm);
    if (result == MPI_SUCCESS) result = wait_for_message(&request, &sockets);
    if (result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
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
  if (status.ok()) {
    const int result = exchange_messages(masters);
    if (result != MPI_SUCCESS) status = fail_mpi(result, "a barrier between nodes");
  }
  node::barrier_release(group.barrier);
  return status;
}

}  // namespace armci::common
