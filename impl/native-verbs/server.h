// The server of a node: registers the node's memory for RDMA, and executes the requests that RDMA cannot do, with the
// same CPU instructions as the node's own processes.
//
// Processes of other nodes connect to the server at the first use. Processes of its own node call it to register their
// memory, since a key belongs to the process that registers, and the links end in the server. Requests of all processes
// arrive in the receive buffers of one shared receive queue. If none is free, the device of the sender retries.
//
// Order: the server executes requests of one process, and replies to them, in the order of sending, which the link
// keeps. A request whose reply has no free buffer yet blocks the requests behind it. Completions free buffers, and need
// no process.
//
// Thread safety: all members but run() and expect_ends() by one thread, before start() and after stop(). In between the
// server's own thread runs, and threads of the process that wait in the library serve as well, one thread at a time.
// They call libibverbs only, never MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/datagrams.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/messages.h"
#include "impl/native-verbs/sender.h"
#include "impl/node/block_finder.h"
#include "impl/server/passes.h"
#include "impl/server/wire.h"

namespace armci::verbs {

// The number and the length of buffers and queues.
struct ServerBounds {
  std::size_t requests;                // receive buffers, for all processes together
  std::size_t bytes;                   // of a request, and of a packed reply
  std::uint32_t requests_per_process;  // of a process
};

class Server {
 public:
  // own(process): whether the process is of this node.
  Server(const Device& device, int processes, std::function<bool(int)> own);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Status open(const ServerBounds& bounds);
  Address address() const { return calls_.address(); }
  Status start(std::uint64_t secret);
  // From now on processes may end, so that replies to them may fail.
  void expect_ends() { leaving_.store(true, std::memory_order_relaxed); }
  // A pass by a thread of this process that waits in the library (impl/server/passes.h).
  void serve_while_waiting();
  // To be called after every process has all its replies.
  void stop();

  std::size_t buffer_bytes() const { return requests_.total_bytes() + replies_.total_bytes(); }

 private:
  static constexpr int kNoBuffer = -1;
  struct PendingReply {
    int buffer = kNoBuffer;
    bool in_place = false;
  };
  struct Peer {
    Sender<PendingReply> sender;
    std::uint64_t last_call = 0;
    Reply last_reply;
  };
  // A request that has come.
  struct Arrival {
    int process;
    std::size_t buffer;
    std::size_t bytes;
  };

  void run();
  // A pass; true if it found work. Ends the job on failure.
  bool pass();
  void end_if_failed(const Status& status);
  Status serve(bool* busy);
  Status block();
  Status done(const ibv_wc& work);
  Status post_receive(std::size_t buffer);

  // Calls.
  Status called(std::span<const char> message);
  bool is_sound(const Call& call) const;
  Reply carry_out(const Call& call);
  Reply connect(const Call& call);
  Reply register_memory(const Call& call);

  // Requests.
  Status serve_arrivals();
  Status execute(const Arrival& arrival, Peer* peer);
  Status decode(const Arrival& arrival, server::Request* request) const;
  Status reply_bytes(Peer* peer, const void* data, std::size_t bytes);
  Status reply_packed(Peer* peer, const server::Request& request);
  Status reply_in_place(Peer* peer, const server::Request& request);
  Status reply(Peer* peer, std::span<const ibv_sge> pieces, bool by_value, const PendingReply& what);
  int take_buffer();
  bool can_post(const Peer& peer) const {
    return peer.sender.can_post() && !free_.empty() && signaled_ < signaled_max_;
  }
  const ibv_mr* region_of(const char* address, std::size_t bytes) const;

  const Device& device_;
  const std::function<bool(int)> own_;
  ServerBounds bounds_{};
  std::uint64_t secret_ = 0;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_cq> done_;
  Owned<ibv_srq> received_;
  Datagrams calls_;
  Buffers requests_;
  Buffers replies_;
  std::vector<int> free_;          // of the reply buffers
  std::unique_ptr<Peer[]> peers_;  // by process
  const int processes_;
  std::unordered_map<std::uint32_t, int> process_of_;  // by number of the queue pair
  std::deque<Arrival> arrivals_;
  std::size_t in_place_ = 0;  // pending zero-copy replies
  std::size_t signaled_ = 0;  // signaled replies that are pending: the completion queue needs an entry for each
  std::size_t signaled_max_ = 0;
  std::map<const char*, Owned<ibv_mr>> regions_;  // by address
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  std::atomic<bool> leaving_{false};
  std::atomic<bool> ended_{false};
  server::Passes passes_;
  int wake_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace armci::verbs
