// The wire between servers and processes, of UCX's active messages: a server's side. Each process has a server, a
// thread that uses UCX alone.
//
// Thread safety: as wire.h says. The threads call UCX only, except to end the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/wire.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class ServerWire final : public engine::ServerWire {
 public:
  // reply_bytes: the longest data of a get.
  ServerWire(int process, int processes, std::size_t reply_bytes);

  Status open(const Context& context);
  Status address(std::string* address) const { return worker_.address(address); }
  // The addresses of the servers and of the processes, in a job that forwards requests.
  void learn(std::vector<std::string> servers, std::vector<std::string> processes);

  void report_to(engine::ServerEvents* events) override { events_ = events; }
  Status open() override { return kSuccess; }
  void close() override {}
  bool keeps_order() const override { return false; }
  std::size_t reply_bytes() const override { return reply_bytes_; }
  Status poll(bool* any) override;
  Status keep(engine::Arrival* arrival) override;
  Status release(const engine::Arrival& arrival) override;
  engine::Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  Status reply(int process, std::uint32_t tag, engine::Message message) override;
  Status forward(int server, const engine::Arrival& arrival) override;
  Status acknowledge(int server, std::uint32_t acknowledgement) override;
  bool has_events() const override { return true; }
  bool arm() override { return worker_.arm(); }
  void await_event(engine::ClientWire* other, std::int64_t us) override;
  void wake() override { worker_.signal(); }
  std::size_t buffer_bytes() const override { return buffers_.bytes(); }

 private:
  struct Outgoing;

  Status arrived(std::span<char> message, int from, bool forwarded);
  Status send(unsigned id, ucp_ep_h endpoint, int process, const ServerPrefix* prefix, std::span<const char> data,
              engine::Message message);
  Status reach(std::vector<ucp_ep_h>* endpoints, const std::vector<std::string>& addresses, int process);

  static ucs_status_t on_request(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_forward(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_acknowledge(void* self, const void* header, std::size_t header_bytes, void* data,
                                     std::size_t bytes, const ucp_am_recv_param_t* param);

  const int process_;
  const std::size_t reply_bytes_;
  engine::ServerEvents* events_ = nullptr;
  engine::MessageBuffers buffers_;      // before the members that hold some
  std::vector<std::string> servers_;    // addresses
  std::vector<std::string> processes_;  // addresses
  std::vector<ucp_ep_h> back_;          // by process
  std::vector<ucp_ep_h> neighbours_;    // by server
  // The last one: its end is the end of the messages that have not left.
  Worker worker_;
};

}  // namespace armci::ucx
