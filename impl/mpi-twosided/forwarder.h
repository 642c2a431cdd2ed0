// Forwards requests for other nodes of the cluster to the servers that execute them.
//
//   process        server with its buffers          server of the target
//   |--request--->|  waits for a credit            |
//   |             |--the same, from its buffer---->| executes it
//   |<------------------------------------- reply, |
//   |             |<------------------------- ack |
//   |<----credit, |
//
// A request stays in its buffer until the ack arrives. A server has ARMCI_SERVER_FORWARDS buffers for the requests of
// each other server of its cluster, apart from the buffers of its own clients. The server executes a forwarded request
// without waiting for any process except the origin. So servers cannot deadlock (docs/mpi-twosided.md).
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
      : comm_(comm), credits_each_(credits_each), acks_(comm, kAcknowledgeTag, sizeof(ReplyHeader)) {}

  // servers[n]: the rank of the server of node n; `neighbours`: the other nodes of the cluster.
  Status open(const std::vector<int>& servers, const std::vector<int>& neighbours);
  void close() { acks_.close(); }

  bool reaches(std::uint32_t node) const { return node < routes_.size() && routes_[node].server >= 0; }
  // Owns the buffer until the request is executed. Precondition: reaches(header.node).
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
  MessagePool acks_;
  std::vector<Route> routes_;  // by node
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace armci::twosided
