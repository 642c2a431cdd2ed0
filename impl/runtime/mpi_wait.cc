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
// waits does. The server thread or the progress thread serves them while this thread sleeps.
template <typename Test>
Status wait_until(node::WaitKind kind, Test test) {
  node::Waiter waiter(kind);
  std::optional<node::InsideMpi> inside(std::in_place);
  int tests_at_once = 0;
  int polls = 0;
  while (true) {
    int done = 0;
    ARMCI_RETURN_IF_ERROR(test(&done));
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

// After a cancel the wait depends on no other process. A receive that was matched before completes.
void abandon(MPI_Request* receive) {
  if (*receive == MPI_REQUEST_NULL) return;
  MPI_Cancel(receive);
  MPI_Wait(receive, MPI_STATUS_IGNORE);
}

}  // namespace

bool library_waits() { return !groups().world().single_node() || world().machine_processes() > world().machine_cpus(); }

Status send_message(const void* out, int bytes, int to, int tag, MPI_Comm comm) {
  if (library_waits()) return send(node::WaitKind::kMessage, out, static_cast<std::size_t>(bytes), to, tag, comm);
  ARMCI_MPI(MPI_Send(out, bytes, MPI_BYTE, to, tag, comm));
  return kSuccess;
}

Status probe_message(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (!library_waits()) {
    ARMCI_MPI(MPI_Mprobe(source, tag, comm, message, status));
    return kSuccess;
  }
  return wait_until(node::WaitKind::kMessage, [=](int* found) -> Status {
    ARMCI_MPI(MPI_Improbe(source, tag, comm, found, message, status));
    return kSuccess;
  });
}

Status receive_message(void* in, int bytes, MPI_Message* message) {
  if (!library_waits()) {
    ARMCI_MPI(MPI_Mrecv(in, bytes, MPI_BYTE, message, MPI_STATUS_IGNORE));
    return kSuccess;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Imrecv(in, bytes, MPI_BYTE, message, &request));
  return complete(node::WaitKind::kMessage, &request);
}

Status complete(node::WaitKind kind, MPI_Request* request) {
  return wait_until(kind, [request](int* done) -> Status {
    ARMCI_MPI(MPI_Test(request, done, MPI_STATUS_IGNORE));
    return kSuccess;
  });
}

Status send(node::WaitKind kind, const void* out, std::size_t bytes, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Isend(out, static_cast<int>(bytes), MPI_BYTE, to, tag, comm, &request));
  return complete(kind, &request);
}

Status receive(node::WaitKind kind, void* in, std::size_t bytes, int from, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(in, static_cast<int>(bytes), MPI_BYTE, from, tag, comm, &request));
  return complete(kind, &request);
}

// Neither side blocks inside MPI while a connection is made, as MPI_Sendrecv does.
Status exchange(node::WaitKind kind, const void* out, int to, void* in, int from, std::size_t bytes, int tag,
                MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(in, static_cast<int>(bytes), MPI_BYTE, from, tag, comm, &request));
  Status status = send(kind, out, bytes, to, tag, comm);
  if (status.ok()) status = complete(kind, &request);
  if (!status.ok()) abandon(&request);
  return status;
}

}  // namespace armci::runtime
