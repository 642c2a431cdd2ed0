// The server of a node: makes the node's memory reachable, and executes what RDMA cannot do, with the same CPU
// instructions as the node's own processes.
//
// Processes of other nodes connect to it when they first need it. Those of its own node ask it to register their
// memory: keys are of the process that registers, and links end here. Requests of all processes wait in the buffers of
// one shared receive queue; when none is free, the device makes senders wait.
//
// Order: requests of one process are executed, and answered, in the order in which they were sent, since its link keeps
// it. One for whose answer there is no room yet keeps those behind it waiting; room comes without the help of any
// process.
//
// Thread safety: all but run() by one thread, before start() and after stop(), but expect_ends(); a thread of its own
// in between. It calls libibverbs only, never MPI.
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
#include "impl/server/wire.h"

namespace armci::verbs {

// How much of each there is.
struct ServerBounds {
  std::size_t requests;      // that wait, of all processes together
  std::size_t bytes;         // of a request, and of an answer that is packed
  std::uint32_t unanswered;  // of a process
};

class Server {
 public:
  // `own`: whether a process is of this node.
  Server(const Device& device, int processes, std::function<bool(int)> own);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Status open(const ServerBounds& bounds);
  Address address() const { return calls_.address(); }
  Status start(std::uint64_t secret);
  // From now on processes may end, so that what is on its way to them fails.
  void expect_ends() { leaving_.store(true, std::memory_order_relaxed); }
  // After every process has all its answers.
  void stop();

  std::size_t buffer_bytes() const { return requests_.total_bytes() + answers_.total_bytes(); }

 private:
  static constexpr int kNoBuffer = -1;
  struct Answering {
    int buffer = kNoBuffer;
    bool in_place = false;
  };
  struct Peer {
    Sender<Answering> sender;
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
  Status answer_bytes(Peer* peer, const void* data, std::size_t bytes);
  Status answer_packed(Peer* peer, const server::Request& request);
  Status answer_in_place(Peer* peer, const server::Request& request);
  Status answer(Peer* peer, std::span<const ibv_sge> pieces, bool by_value, const Answering& what);
  int take_buffer();
  bool can_post(const Peer& peer) const { return peer.sender.can_post() && !free_.empty() && signaled_ < signaled_max_; }
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
  Buffers answers_;
  std::vector<int> free_;          // of the answer buffers
  std::unique_ptr<Peer[]> peers_;  // by process
  const int processes_;
  std::unordered_map<std::uint32_t, int> process_of_;  // by number of the queue pair
  std::deque<Arrival> arrivals_;
  std::size_t in_place_ = 0;  // answers under way whose data the device sends from where they lie
  std::size_t signaled_ = 0;      // signaled replies that are pending: the completion queue needs an entry for each
  std::size_t signaled_max_ = 0;
  std::map<const char*, Owned<ibv_mr>> regions_;  // by address
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  std::atomic<bool> leaving_{false};
  std::atomic<bool> ended_{false};
  int wake_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace armci::verbs
