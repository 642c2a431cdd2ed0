// The wire between servers and processes, of UCX's active messages: a server's side. Each process has a server, which
// shares the worker with the client of the process (worker.h).
//
// Thread safety: as wire.h says. Its threads call no MPI, except to end the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "impl/base/status.h"
#include "impl/engine/wire.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class ServerWire final : public engine::ServerWire {
 public:
  // reply_bytes: the longest data of a get.
  ServerWire(Worker* worker, int process, std::size_t reply_bytes);

  Status open() override;
  void report_to(engine::ServerEvents* events) override { events_ = events; }
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
  bool arm() override { return worker_.arm(Role::kServer); }
  void await_event(engine::ClientWire* other, std::int64_t us) override {
    worker_.await_event(Role::kServer, other != nullptr, us);
  }
  void wake() override { worker_.signal(Role::kServer); }
  std::size_t buffer_bytes() const override { return buffers_.bytes(); }

 private:
  void take_request(std::span<char> message);
  void take_forwarded(std::span<const char> header, std::span<char> message);
  void take_acknowledgement(std::span<const char> header);
  Status arrived(std::span<char> message, int from, bool forwarded);
  Status send(unsigned id, int process, const ServerPrefix* prefix, std::span<const char> data,
              engine::Message message);

  const int process_;
  const std::size_t reply_bytes_;
  engine::ServerEvents* events_ = nullptr;
  engine::MessageBuffers buffers_;
  Worker& worker_;
};

}  // namespace armci::ucx
