// The wire between servers and processes, of verbs: the side of a node's server, which also registers the node's memory
// for RDMA.
//
// Processes of other nodes connect at the first use. Processes of the own node call to register their memory, since a
// key belongs to the process that registers, and the links end here. Requests of all processes arrive in the receive
// buffers of one shared receive queue. If none is free, the device of the sender retries.
//
// Order: a link keeps the order of requests, and of their replies. A message whose reply has no free buffer yet blocks
// the messages behind it. Completions free buffers, and need no process.
//
// Clusters: the requests that a server forwards have links of their own (neighbours.h).
//
// Signals are requests, or writes with immediate data, which name the process whose threads are to wake. Such a write
// takes a receive buffer, and has no reply.
//
// Thread safety: as wire.h says; expect_ends() and set_wake_ups() by any thread. The threads call libibverbs only,
// never MPI.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/routes.h"
#include "impl/engine/wire.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/datagrams.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/messages.h"
#include "impl/native-verbs/neighbours.h"
#include "impl/native-verbs/sender.h"
#include "impl/node/block_finder.h"
#include "impl/node/signal.h"

namespace armci::verbs {

// The number and the length of buffers and queues.
struct ServerBounds {
  std::size_t requests;                // receive buffers, for all processes together
  std::size_t bytes;                   // of a request, and of a reply
  std::uint32_t requests_per_process;  // of a process
};

class ServerWire final : public engine::ServerWire {
 public:
  // own(process): whether the process is of this node.
  ServerWire(const Device& device, const ServerBounds& bounds, const engine::Routes& routes, int number,
             std::function<bool(int)> own);
  ~ServerWire() override;
  ServerWire(const ServerWire&) = delete;
  ServerWire& operator=(const ServerWire&) = delete;

  Address address() const { return calls_.address(); }
  // Of the links to the other servers of the cluster, in their order.
  std::vector<Address> link_addresses() const { return neighbours_.addresses(device_); }
  Status connect_to(std::span<const Address> servers) { return neighbours_.connect(device_, servers); }
  // Of the job, before the first poll().
  void set_secret(std::uint64_t secret) { secret_ = secret; }
  // Of the processes of this node, by process; the others are null. Before the first signal.
  void set_wake_ups(std::vector<node::WakeUp*> all);
  // From now on processes may end, so that replies to them may fail.
  void expect_ends() { leaving_.store(true, std::memory_order_relaxed); }

  void report_to(engine::ServerEvents* events) override { events_ = events; }
  Status open() override;
  void close() override {}
  bool keeps_order() const override { return true; }
  bool replies_to_each() const override { return true; }
  std::size_t reply_bytes() const override { return bounds_.bytes - sizeof(engine::ReplyHeader); }
  Status poll(bool* any) override;
  Status keep(engine::Arrival*) override { return kSuccess; }  // the message stays in its buffer
  Status release(const engine::Arrival& arrival) override;
  engine::Message take_message(std::size_t bytes) override;
  Status reply(int process, std::uint32_t tag, engine::Message message) override;
  Status forward(int server, const engine::Arrival& arrival) override;
  Status acknowledge(int server, std::uint32_t acknowledgement) override;
  bool is_streaming() const override { return streaming_; }
  bool has_events() const override { return true; }
  bool arm() override;
  void await_event(engine::ClientWire* other, std::int64_t us) override;
  void wake() override;
  std::size_t buffer_bytes() const override {
    return requests_.total_bytes() + replies_.total_bytes() + neighbours_.buffer_bytes();
  }

 private:
  struct Peer {
    Sender<engine::Buffer> sender;  // entries: the buffer of a reply that is not sent by value
    std::uint64_t last_call = 0;
    Reply last_reply;
  };
  // A request, or an acknowledgement, that has come.
  struct Received {
    engine::Arrival request;
    FromServer from_server;  // if it is from one
    int replied_to = -1;     // the process that gets a reply because of it; -1: the message is malformed
  };

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  Status done(const ibv_wc& work);
  void arrived(const FromServer& from);
  Status deliver();
  Status post_receive(std::size_t buffer);
  Status wake_threads_of(std::uint32_t process);
  std::size_t buffer_of(const engine::Arrival& request) const;
  bool can_reply(int process);

  // --- calls (server_calls.cc)
  Status called(std::span<const char> message);
  bool is_sound(const Call& call);
  Reply carry_out(const Call& call);
  Reply connect(const Call& call);
  Reply register_memory(const Call& call);

  const Device& device_;
  const ServerBounds bounds_;
  const engine::Routes routes_;
  const int number_;
  const std::function<bool(int)> own_;
  const int processes_;
  std::uint64_t secret_ = 0;
  engine::ServerEvents* events_ = nullptr;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_cq> done_;
  Owned<ibv_srq> received_;
  Datagrams calls_;
  Buffers requests_;
  BufferPool replies_;                                 // before the peers, which have some
  std::unique_ptr<Peer[]> peers_;                      // by process
  std::unordered_map<std::uint32_t, int> process_of_;  // by number of the queue pair
  std::array<ibv_wc, 16> works_;
  int held_ = 0;                   // completions that arm() found
  std::deque<Received> arrivals_;  // whose replies need a buffer
  Neighbours neighbours_;
  std::map<std::pair<int, std::uint32_t>, int>
      forwarded_origins_;     // of requests that were forwarded, by server and number
  std::size_t signaled_ = 0;  // signaled replies that are pending: the completion queue needs an entry for each
  std::size_t signaled_max_ = 0;
  std::int64_t found_us_ = 0;  // when the last completions were found
  bool streaming_ = false;
  std::map<const char*, Owned<ibv_mr>> regions_;  // by address
  node::BlockFinder blocks_;
  std::atomic<bool> leaving_{false};
  std::mutex wake_ups_mutex_;
  std::vector<node::WakeUp*> wake_ups_;
  int event_fd_ = -1;  // of wake()
};

}  // namespace armci::verbs
