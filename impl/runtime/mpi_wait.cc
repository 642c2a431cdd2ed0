#include "impl/runtime/mpi_wait.h"

#include <sched.h>

#include <cstdint>
#include <optional>

#include "impl/node/inside_mpi.h"
#include "impl/node/mpi_progress.h"
#include "impl/node/socket_watch.h"
#include "impl/node/wait.h"
#include "impl/node/waiter.h"
#include "impl/runtime/groups.h"
#include "impl/runtime/world.h"

namespace armci::runtime {
namespace {

constexpr int kTestsAfterArrival = 20;
// With more processes than cores. A test takes about a microsecond. Open MPI may yield in each, MPICH never does.
constexpr int kTestsBeforeYield = 20;

// All threads share this watch. The watch is never destroyed, because a destructor of the program may wait.
node::SocketWatch& sockets() {
  static node::SocketWatch& of_process = *new node::SocketWatch;
  return of_process;
}

// `test` sets its argument when the wait is over. The test and the pass serve the other processes as a call of MPI that
// waits does. The progress thread serves them while this thread sleeps.
template <typename Test>
Status wait_until(node::WaitKind kind, Test test) {
  node::Waiter waiter(kind);
  std::optional<node::InsideMpi> inside(std::in_place);
  int tests_at_once = 0;
  int polls = 0;
  while (true) {
    int done = 0;
    ARMCI_MPI(test(&done));
    if (done != 0) return kSuccess;
    node::make_mpi_pass();
    if (--tests_at_once > 0) continue;
    // The waiter polls as long as for a long message. MPI passes messages on only while it is called.
    const std::int64_t us = waiter.pause_us(/*streaming=*/true);
    if (us == 0) {
      if (++polls % kTestsBeforeYield == 0 && !node::has_free_cores()) sched_yield();
      continue;
    }
    inside.reset();
    sockets().scan_when_due();
    const bool arrived = sockets().sleep(us);
    inside.emplace();
    // One test may leave data unread, for which the socket has no other edge.
    tests_at_once = arrived ? kTestsAfterArrival : 0;
  }
}

void abandon(MPI_Request* receive) {
  if (*receive == MPI_REQUEST_NULL) return;
  MPI_Cancel(receive);
  MPI_Request_free(receive);
}

}  // namespace

bool waits_for_mpi() { return !groups().world().single_node() || world().machine_processes() > world().machine_cpus(); }

Status complete(node::WaitKind kind, MPI_Request* request) {
  return wait_until(kind, [request](int* done) { return MPI_Test(request, done, MPI_STATUS_IGNORE); });
}

Status probe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return wait_until(node::WaitKind::kMessage,
                    [=](int* found) { return MPI_Improbe(source, tag, comm, found, message, status); });
}

// Neither side blocks inside MPI while a connection is made, as MPI_Sendrecv does.
Status exchange(node::WaitKind kind, const void* out, int to, void* in, int from, std::size_t bytes, int tag,
                MPI_Comm comm) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  // MPI checks the buffer for MPI_PROC_NULL too.
  const auto count_for = [bytes](int process) { return process == MPI_PROC_NULL ? 0 : static_cast<int>(bytes); };
  ARMCI_MPI(MPI_Irecv(in, count_for(from), MPI_BYTE, from, tag, comm, &receive));
  const auto both = [&]() -> Status {
    ARMCI_MPI(MPI_Isend(out, count_for(to), MPI_BYTE, to, tag, comm, &send));
    ARMCI_RETURN_IF_ERROR(complete(kind, &receive));
    return complete(kind, &send);
  };
  const Status status = both();
  if (!status.ok()) abandon(&receive);
  return status;
}

}  // namespace armci::runtime
