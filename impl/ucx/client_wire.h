// The wire between a process and the servers, of UCX: the process's side. Servers have the numbers of their processes.
//
//   requests, replies   active messages
//   Rdma                ucp_put_nbx and ucp_get_nbx with the key of the memory, where the network has them
//
// The first message to a process creates its endpoint. The first transfer to a memory unpacks its key.
//
// Where the network has no put and get of its own (TCP, shared memory), UCX makes them of messages, which end
// within words, and copies long ones byte by byte, so that elements are seen in halves [LC-3]. All operations are
// requests then: the server copies whole elements, and one kind of message to a process needs no order against another.
// ARMCI_UCX_PUT_GET=always cuts puts and gets into pieces that UCX copies whole.
//
// Order: ucp_worker_fence, which UCX promises to order puts and gets; not tested where UCX takes several lanes of an
// endpoint. Nothing over one lane of Soft-RoCE: its queue pair and the CPU that copies keep the order of writes and of
// a read after them, and that of Linux 6.1 forgets at times to send a read that has the flag of a fence. No fence is
// about messages.
//
// Limits: UCX ends the process at the 256th pending flush of an endpoint; the engine has one.
//
// Thread safety: as wire.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/wire.h"
#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

// Whether contiguous data go by UCX's put and get.
enum class PutGet { kAuto, kAlways, kNever };

struct WireLimits {
  std::size_t message_bytes = 0;    // of the data of a request and of a reply
  std::uint64_t requests = 0;       // to a process
  std::size_t unsent = 0;           // messages that UCX has not sent
  std::size_t zero_copy_bytes = 0;  // shorter data are copied into their request
};

class ClientWire final : public engine::ClientWire, private engine::Rdma {
 public:
  // `mapped`: memory that may contain local buffers.
  ClientWire(Worker* worker, PutGet put_get, const WireLimits& limits, int processes, const MappedMemory& mapped);

  Status open();
  // The description of the endpoint to a process, in UCX's words.
  Status describe(int process, std::string* text);
  // Adds a key that is too long for a PackedKey. remove_key() is for keys of every length.
  void add_key(int process, std::uint32_t number, std::string packed);
  void remove_key(int process, std::uint32_t number);

  void report_to(engine::ClientEvents* events) override { events_ = events; }
  const engine::ClientLimits& limits() const override { return limits_; }
  Status connect(int process) override;
  engine::Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  void give_back(engine::Message message) override { buffers_.give_back(std::move(message)); }
  bool can_send(int) override { return unsent_ < unsent_max_; }
  Status send(int process, int executor, engine::Message message, const engine::ExpectedReply* reply) override;
  std::size_t zero_copy_bytes() const override { return zero_copy_bytes_; }
  Status send_with_data(int process, int executor, engine::Message message, std::span<const char> data,
                        engine::Part part) override;
  Status poll(bool* any) override;
  bool unsent() const override { return unsent_ > 0; }
  bool arm() override { return worker_.arm(Role::kClient); }
  void await_event(std::int64_t us) override { worker_.await_event(Role::kClient, false, us); }
  void close() override;
  Status failure(int error, const char* call, int process) override;
  std::size_t buffer_bytes() const override { return buffers_.bytes(); }
  engine::Rdma* rdma() override { return put_get_ == PutGet::kNever ? nullptr : this; }

 private:
  using Operation = engine::Operations::Operation;
  struct Peer {
    std::optional<bool> has_rdma;                            // among the transports of the endpoint
    bool keeps_order = false;                                // Soft-RoCE: puts and gets of UCX's have no fence
    std::unordered_map<std::uint32_t, ucp_rkey_h> keys;      // by number
    std::unordered_map<std::uint32_t, std::string> learned;  // keys that are long
  };

  bool reaches(const engine::Target& target, const void* remote, std::size_t bytes) override;
  bool reaches(const engine::Target& target, const engine::Rows& rows) override;
  std::size_t piece_bytes(const engine::Target& target, const void* remote, std::size_t bytes);
  Status transfer(Direction direction, const engine::Target& target, char* remote, char* local, std::size_t* bytes,
                  Operation* operation) override;
  Status fence(const engine::Target& target) override;
  bool requests_follow(int) const override { return false; }
  Status flush(int process, Operation* operation) override;

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  // Whether a device puts into that memory and gets from it, by the way that UCX took to its process.
  bool has_device(int process, const PackedKey& key);
  bool has_key(int process, const PackedKey& key);
  Status unpack(int process, const PackedKey& key, std::size_t pending, ucp_rkey_h* unpacked);
  Worker::Use use() { return {&worker_, Role::kClient}; }
  void take_reply(std::span<const char> message);

  const PutGet put_get_;
  const std::size_t unsent_max_;
  const std::size_t zero_copy_bytes_;
  const engine::ClientLimits limits_;
  const MappedMemory& mapped_;
  engine::ClientEvents* events_ = nullptr;
  engine::MessageBuffers buffers_;
  std::vector<Peer> peers_;  // by process
  std::size_t unsent_ = 0;
  Worker& worker_;
};

}  // namespace armci::ucx
