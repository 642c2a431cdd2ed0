// The wire between a process and the servers, of MPI messages: the process's side.
//
//   request     kRequestTag, to the server's receive buffers
//   reply       with the request's tag; posted before the request is sent, so that MPI never has to store it
//   count       kCountTag; one receive is posted for each server
//   long data   with the request's tag, on a communicator of their own; a long reply arrives in its place
//
// Thread safety: as wire.h says.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/wire.h"
#include "impl/mpi-twosided/message_pool.h"

namespace armci::twosided {

class ClientWire final : public engine::ClientWire, private engine::LongData {
 public:
  // servers[n]: the rank of server n. receive_buffers: of each server; they limit the requests.
  ClientWire(const Comms& comms, const ReceiveBuffers& receive_buffers, std::vector<int> servers);

  void report_to(engine::ClientEvents* events) override { events_ = events; }
  const engine::ClientLimits& limits() const override { return limits_; }
  Status connect(int server) override;
  engine::Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  void give_back(engine::Message message) override { buffers_.give_back(std::move(message)); }
  bool can_send(int server) override;
  Status send(int server, int executor, engine::Message message, const engine::ExpectedReply* reply) override;
  Status poll(bool* any) override;
  bool unsent() const override { return !sending_.empty() || !sending_data_.empty(); }
  void close() override;
  Status failure(int error, const char* call, int server) override;
  std::size_t buffer_bytes() const override { return buffers_.bytes() + reply_bytes_; }
  engine::LongData* long_data() override { return this; }

 private:
  // A request that MPI sends from this memory.
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    engine::Message message;
  };
  struct SendingData {
    MPI_Request request = MPI_REQUEST_NULL;
    engine::Part part;
  };
  struct Reply {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint32_t tag = 0;
    std::unique_ptr<char[]> message;  // null: received in its place
    std::size_t bytes = 0;
  };
  struct Count {
    int server = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<engine::ReplyHeader> header;
  };

  std::size_t bytes_max() const override { return chunk_bytes_; }
  Status send_data(int server, std::uint32_t tag, std::span<const char> data, engine::Part part) override;
  int rank(int server) const { return servers_[static_cast<std::size_t>(server)]; }
  Status post_count(Count* count);
  Status poll_counts(bool* any);
  Status poll_sending(bool* any);
  Status take_sent(Sending sent);

  const Comms comms_;
  const std::vector<int> servers_;
  const std::size_t chunk_bytes_;
  const engine::ClientLimits limits_;
  engine::ClientEvents* events_ = nullptr;
  engine::MessageBuffers buffers_;
  std::vector<Sending> sending_;
  std::vector<SendingData> sending_data_;
  std::vector<Reply> replies_;
  std::size_t reply_bytes_ = 0;  // of the memory for them
  std::vector<Count> counts_;
  std::vector<bool> connected_;  // by server
};

}  // namespace armci::twosided
