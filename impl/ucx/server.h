// The server: a thread of each process that does what others ask of its memory and needs a CPU here: transfers that the
// network cannot make by itself, and requests (impl/server). It also advances what the client has begun and nobody
// waits for [PROG-3].
//
// It calls UCX only (but to end the job), and sleeps on the event of its worker when there is nothing to do, and on
// that of the client's too while that needs it.
//
// Requests of one process are executed in the order of their sequence, whatever way UCX has sent them: one that
// overtook another waits. Their count goes back with every answer, and after every look at the network for those that
// need none. A reply that UCX does not send ends the job, since who asked would wait for it.
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
#include "impl/server/wire.h"
#include "impl/ucx/message_buffers.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class Client;

class Server {
 public:
  // answer_bytes_max: of a get that is asked for.
  Server(int process, int processes, std::size_t answer_bytes_max);
  ~Server() { stop(); }

  Status open(const Context& context);
  Status address(std::string* address) const { return worker_.address(address); }
  // `client`: to be advanced, which calls wake() when it needs to be.
  Status start(Client* client);
  void wake() { worker_.signal(); }
  // Nobody asks any more.
  void stop();
  std::size_t buffer_bytes() const { return buffers_.bytes(); }

 private:
  // A request that came too early.
  struct Waiting {
    RequestMark mark;
    Message message;
  };
  struct Origin {
    std::uint64_t executed = 0;
    std::uint64_t told = 0;  // of those
    ucp_ep_h back = nullptr;
    std::map<std::uint64_t, Waiting> waiting;  // by sequence
  };

  void run();
  void rest();
  void execute(Origin* from, const RequestMark& mark, std::span<const char> message);
  Message copy_of(std::span<const char> message);
  Status perform(std::span<const char> message, ReplyMark* reply, Message* data);
  void execute_waiting(Origin* from);
  void reply(Origin* from, ReplyMark mark, Message data);
  void tell_counts();

  static ucs_status_t on_request(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);

  const int process_;
  Client* client_ = nullptr;
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  const server::Bounds bounds_;
  MessageBuffers buffers_;             // of answers, and of copies of requests; before whatever holds some
  std::vector<Origin> origins_;        // by process
  std::vector<std::uint32_t> untold_;  // processes whose count has changed
  std::thread thread_;
  std::atomic<bool> leaving_{false};
  // The last one: its end is the end of the replies that have not left.
  Worker worker_;
};

}  // namespace armci::ucx
