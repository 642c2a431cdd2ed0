// Requests for other nodes of the cluster, on their way from the buffers they came in to the servers that execute them.
//
//   process        server with its buffers          server of the target
//   |--request--->|  waits for a credit            |
//   |             |--the same, from its buffer---->| executes it
//   |<------------------------------------ answer, |
//   |             |<-------------- acknowledgement |
//   |<----credit, |
//
// A request stays in its buffer until it is acknowledged. A server has ARMCI_SERVER_FORWARDS buffers for what each
// other server of its cluster forwards, apart from those of its own clients, and executes it without waiting for
// anybody but the request's own process: so no ring of servers waits for one another (docs/mpi-twosided.md).
//
// Thread safety: one thread, that of the server.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-twosided/message_pool.h"
#include "impl/mpi-twosided/messages.h"

namespace armci::twosided {

class Forwarder {
 public:
  // A request that was forwarded and acknowledged.
  struct Done {
    MessagePool::Buffer* buffer = nullptr;  // null: none
    std::uint32_t origin = 0;
    std::uint64_t ticket = 0;
  };

  Forwarder(MPI_Comm comm, int credits_each)
      : comm_(comm), credits_each_(credits_each), acknowledgements_(comm, kAcknowledgeTag, sizeof(ReplyHeader)) {}

  // servers[n]: the rank of the server of node n; `neighbours`: the nodes that may be meant.
  Status open(const std::vector<int>& servers, const std::vector<int>& neighbours);
  void close() { acknowledgements_.close(); }

  bool reaches(std::uint32_t node) const { return node < routes_.size() && routes_[node].server >= 0; }
  // Takes over the buffer until the request is done. Needs reaches(header.node).
  Status forward(const MessagePool::Message& message, const RequestHeader& header, std::uint64_t ticket);
  Status next_done(Done* done);

 private:
  struct Route {
    int server = -1;
    int credits = 0;
    std::deque<std::uint32_t> waiting;  // slots
  };
  struct Slot {
    Done what;
    std::size_t bytes = 0;
    std::uint32_t node = 0;
    bool sent = false;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Status send_on(Route* route);

  const MPI_Comm comm_;
  const int credits_each_;
  MessagePool acknowledgements_;
  std::vector<Route> routes_;  // by node
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace armci::twosided
