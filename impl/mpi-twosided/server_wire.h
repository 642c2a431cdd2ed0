// The wire between servers and processes, of MPI messages: a server's side.
//
// Requests arrive in receive buffers that are posted before: ARMCI_SERVER_BUFFERS of ARMCI_SERVER_BUFFER_BYTES for each
// process that sends to this server, and ARMCI_SERVER_FORWARDS for each other server of its cluster. No process sends
// without a credit, so MPI never has to store a request, and the number of processes bounds the memory of a server.
//
// Order: MPI matches messages of one sender in the order of sending, and the pools post and take buffers in one order.
//
// Thread safety: as wire.h says. A thread calls MPI, which needs MPI_THREAD_MULTIPLE where the program calls it too.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/routes.h"
#include "impl/engine/server.h"
#include "impl/engine/wire.h"
#include "impl/mpi-twosided/message_pool.h"

namespace armci::twosided {

class ServerWire final : public engine::ServerWire {
 public:
  // servers[n]: the rank of server n. `number`: of this server.
  ServerWire(const Comms& comms, const ReceiveBuffers& receive_buffers, const engine::Routes& routes,
             std::vector<int> servers, int number);

  void report_to(engine::ServerEvents* events) override { events_ = events; }
  Status open() override;
  void close() override;
  bool keeps_order() const override { return true; }
  std::size_t reply_bytes() const override { return receive_buffers_.reply_bytes(); }
  Status poll(bool* any) override;
  Status keep(engine::Arrival*) override { return kSuccess; }  // the message stays in its buffer
  Status release(const engine::Arrival& arrival) override;
  engine::Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  Status reply(int process, std::uint32_t tag, engine::Message message) override;
  Status reply_data(int process, std::uint32_t tag, std::span<const char> data, engine::Chunk* chunk) override;
  Status receive_data(int process, std::uint32_t tag, std::span<char> to, engine::Chunk* chunk) override;
  Status forward(int server, const engine::Arrival& arrival) override;
  Status acknowledge(int server, std::uint32_t acknowledgement) override;
  bool is_streaming() const override { return !sending_.empty() || !receiving_.empty(); }
  std::size_t buffer_bytes() const override;

 private:
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    engine::Message message;         // or
    engine::Chunk* chunk = nullptr;  // memory of the engine's
  };
  struct Receiving {
    MPI_Request request = MPI_REQUEST_NULL;
    engine::Chunk* chunk = nullptr;
  };

  Status take_requests(MessagePool* pool, bool forwarded, bool* any);
  Status take_acknowledgements(bool* any);
  int server_of(int rank) const;
  Status send(MPI_Comm comm, int rank, int tag, std::span<const char> data, Sending sending);
  Status take_sent(Sending sent);

  const Comms comms_;
  const ReceiveBuffers receive_buffers_;
  const engine::Routes routes_;
  const std::vector<int> servers_;
  const int number_;
  engine::ServerEvents* events_ = nullptr;
  MessagePool requests_;
  MessagePool forwarded_;
  MessagePool acknowledgements_;
  engine::MessageBuffers buffers_;
  std::vector<Sending> sending_;
  std::vector<Receiving> receiving_;
};

inline engine::ServerOptions server_options(const ReceiveBuffers& of, int wait_us) {
  return {static_cast<std::uint64_t>(of.credits), of.forwards, of.chunks, of.chunk_bytes, wait_us};
}

}  // namespace armci::twosided
