// The links of a server to the other servers of its cluster (impl/engine/routes.h).
//
//   server                                   other server
//   --a request, from its receive buffer---->  into a buffer of the link
//   <--acknowledgement: number, as immediate data--------
//
// Requests from servers have buffers of their own. In the receive buffers of processes, two servers full of requests
// for each other would wait without end. At most kForwards requests of a link are unacknowledged, and as many
// acknowledgements unseen, so a message always finds a buffer.
//
// Thread safety: none, that of the server's wire.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/address.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/sender.h"

namespace armci::verbs {

// From another server: a request, or an acknowledgement.
struct FromServer {
  int server = -1;  // none has come
  std::span<char> request;
  bool is_acknowledgement = false;
  std::uint32_t acknowledgement = 0;  // as the engine gave it
};

class Neighbours {
 public:
  static constexpr std::uint32_t kForwards = 8;  // unacknowledged requests of a link

  // Entries of the completion queue that `count` links need.
  static std::size_t completions(std::size_t count) { return count * (kReceives + kSends); }
  // `bytes`: of a request.
  Status create(const Device& device, ibv_cq* done, const std::vector<int>& servers, std::size_t bytes);
  // Of the links here, in the order of the servers; and of those servers' links to this one.
  std::vector<Address> addresses(const Device& device) const;
  Status connect(const Device& device, std::span<const Address> others);

  // Whether the completion is of a link to a server.
  bool owns(const ibv_wc& work) const { return by_pair_.contains(work.qp_num); }
  Status ended(const ibv_wc& work, FromServer* message);
  // The memory of the request is in use until it is acknowledged.
  Status forward(int server, const ibv_sge& request);
  Status acknowledge(int server, std::uint32_t acknowledgement);
  // The buffer of a request that ended() gave.
  Status release(int server, const char* request);
  std::size_t buffer_bytes() const;

 private:
  static constexpr std::uint32_t kReceives = 2 * kForwards;
  static constexpr std::uint32_t kSends = 4 * kForwards;  // a completion may be seen late
  struct Outgoing {
    ibv_sge request;  // of no bytes: an acknowledgement
    std::uint32_t acknowledgement;
  };
  struct Neighbour {
    int server = -1;
    Sender<char> sender;  // its entries hold nothing
    Buffers buffers;
    std::deque<Outgoing> waiting;
  };

  Neighbour& of(int server) { return *by_server_.at(server); }
  static Status receive(Neighbour* from, std::size_t buffer);
  static Status send(Neighbour* to);

  std::vector<std::unique_ptr<Neighbour>> all_;
  std::unordered_map<int, Neighbour*> by_server_;
  std::unordered_map<std::uint32_t, Neighbour*> by_pair_;  // by number of the queue pair
};

}  // namespace armci::verbs
