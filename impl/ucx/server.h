// The server: a thread of each process that executes what needs a CPU of the target: requests (impl/server), and
// transfers that the network cannot do. The thread also makes progress for the pending operations of the client
// [PROG-3].
//
// The thread calls UCX only, except to end the job. When idle, it blocks on the event of its worker, and on that of the
// client's worker while the client has pending operations.
//
// The server executes requests of one process in the order of their sequence, also if UCX reorders them: a request that
// is early waits. Each reply returns the count of executed requests. For requests without a reply the server sends the
// count after each poll of the network. A reply that UCX does not send ends the job, since its origin would hang.
//
// Thread safety: open, start and stop by one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "impl/base/status.h"
#include "impl/node/block_finder.h"
#include "impl/server/passes.h"
#include "impl/server/wire.h"
#include "impl/ucx/message_buffers.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class Client;

class Server {
 public:
  // reply_bytes_max: the longest data of a get.
  Server(int process, int processes, std::size_t reply_bytes_max);
  ~Server() { stop(); }

  Status open(const Context& context);
  Status address(std::string* address) const { return worker_.address(address); }
  // `client`: the thread makes progress for it. The client calls wake() when it needs progress.
  Status start(Client* client);
  void wake() { worker_.signal(); }
  // A pass by a thread of this process that waits in the library (impl/server/passes.h).
  void serve_while_waiting();
  // Precondition: no process sends requests any more.
  void stop();
  std::size_t buffer_bytes() const { return buffers_.bytes(); }

 private:
  // A request that arrived before its predecessors.
  struct Waiting {
    RequestPrefix prefix;
    Message message;
  };
  struct Origin {
    std::uint64_t executed = 0;
    std::uint64_t reported = 0;  // of those
    ucp_ep_h back = nullptr;
    std::map<std::uint64_t, Waiting> waiting;  // by sequence
  };

  void run();
  // A pass; true if it found work.
  bool pass();
  void rest();
  void execute(Origin* from, const RequestPrefix& prefix, std::span<const char> message);
  Message copy_of(std::span<const char> message);
  Status perform(std::span<const char> message, ReplyPrefix* reply, Message* data);
  void execute_waiting(Origin* from);
  void reply(Origin* from, ReplyPrefix prefix, Message data);
  void report_counts();

  static ucs_status_t on_request(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);

  const int process_;
  Client* client_ = nullptr;
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  const server::Bounds bounds_;
  MessageBuffers buffers_;                 // of replies and copies of requests; before the members that hold some
  std::vector<Origin> origins_;            // by process
  std::vector<std::uint32_t> unreported_;  // processes whose count has changed
  std::thread thread_;
  server::Passes passes_;
  static constexpr int kBusyPassesMax = 8;  // before counts are reported
  int busy_passes_ = 0;
  std::atomic<bool> stopping_{false};
  // The last one: its end is the end of the replies that have not left.
  Worker worker_;
};

}  // namespace armci::ucx
