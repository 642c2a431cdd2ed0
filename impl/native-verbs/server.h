// The server of a node: makes the node's memory reachable, and executes what RDMA cannot do, with the same CPU
// instructions as the node's own processes.
//
// Processes of other nodes have a link each to it, those of its own node as well, which ask it to register their
// memory: keys are of the process that registers, and links end here. Requests of all processes wait in the buffers of
// one shared receive queue; when none is free, the device makes senders wait.
//
// Order: requests of one process are executed in the order in which they were sent, since its link keeps it.
//
// Thread safety: all but run() by one thread, before start() and after stop(); a thread of its own in between. It calls
// libibverbs only, never MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "impl/common/status.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/link.h"
#include "impl/native-verbs/messages.h"
#include "impl/server/wire.h"
#include "impl/shmem/block_finder.h"

namespace armci::verbs {

class Server {
 public:
  // `own`: whether a process is of this node.
  Server(const Device& device, int processes, std::function<bool(int)> own);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Posts the buffers: `buffers` of `bytes`; a process may have `depth` requests that have not been answered.
  common::Status open(std::size_t buffers, std::size_t bytes, std::uint32_t depth);
  common::Status accept(int process, const LinkAddress& theirs, LinkAddress* mine);
  common::Status start();
  // After every process has all its answers.
  void stop();

  std::size_t buffer_bytes() const { return requests_.total_bytes() + answers_.total_bytes(); }

 private:
  struct Peer {
    Link link;
    std::vector<std::uint32_t> free;  // of its answer buffers
    std::deque<Answer> waiting;       // for one of those
  };

  void run();
  common::Status serve(bool* busy);
  common::Status block();
  common::Status done(const ibv_wc& work);
  common::Status execute(int process, std::span<const char> message, Answer* answer);
  Answer carry_out(const Order& order);
  common::Status reply(Peer* peer, const Answer& answer);
  common::Status post_receive(std::size_t buffer);

  const Device& device_;
  const std::function<bool(int)> own_;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_cq> done_;
  Owned<ibv_srq> received_;
  Buffers requests_;
  Buffers answers_;
  std::vector<Peer> peers_;  // by process
  std::unordered_map<std::uint32_t, int> process_of_;
  std::unordered_map<std::uint32_t, Owned<ibv_mr>> regions_;  // by key
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  std::uint32_t depth_ = 0;
  std::atomic<bool> leaving_{false};
  int wake_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace armci::verbs
