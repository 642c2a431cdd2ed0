// Forwards requests for other servers of the cluster to the servers that execute them.
//
//   process        server with its buffers          server of the target
//   |--request--->|  waits for a credit            |
//   |             |--the same, from its buffer---->| executes it
//   |<------------------------------------- reply, |
//   |             |<-------------- acknowledgement |
//   |<------count |
//
// A request stays in its buffer until the acknowledgement arrives. A server has buffers for the requests of each other
// server of its cluster, apart from the buffers of its own clients. The server executes a forwarded request without
// waiting for any process except the origin. So servers cannot deadlock (docs/engine.md).
//
// Thread safety: one thread at a time, that of the server.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/wire.h"

namespace armci::engine {

class Forwarder {
 public:
  // A request that was forwarded and acknowledged.
  struct Done {
    Arrival arrival;
    std::uint32_t origin = 0;
    std::uint64_t number = 0;  // of the origin
    bool is_refused = false;   // a store, which its server refused
  };

  // credits_each: requests to one server that are not acknowledged.
  Forwarder(ServerWire* wire, int servers, int credits_each)
      : wire_(*wire), routes_(static_cast<std::size_t>(servers)) {
    for (Route& route : routes_) route.credits = credits_each;
  }

  // Owns the buffer of the arrival, which is kept, until the request is acknowledged.
  Status forward(int server, const Done& request);
  // An acknowledgement has arrived; *done: the request.
  Status acknowledged(int server, std::uint32_t acknowledgement, Done* done);

 private:
  struct Route {
    int credits = 0;
    std::uint32_t last_number = 0;
    std::deque<Done> waiting;
    std::unordered_map<std::uint32_t, Done> sent;  // by number
  };

  Status send_on(int server);

  ServerWire& wire_;
  std::vector<Route> routes_;  // by server
};

}  // namespace armci::engine
