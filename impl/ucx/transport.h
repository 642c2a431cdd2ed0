// The ucx implementation: ARMCI over UCX's one-sided and active messages.
//
// Each process has a server (server.h), a thread that answers by UCX alone, and a client (client.h), by which it asks.
// The network, or that thread where the network cannot, moves what is put and got. Atomics are requests, which the
// target's server executes with the CPU instructions of its node: UCX's own may be made by a device, and would not be
// atomic with the CPU's.
//
// Limits, and what happens at them: client.h.
//
// Thread safety: as the contract asks, at every thread level of MPI: the thread calls UCX only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/common/choice_list.h"
#include "impl/common/transport.h"
#include "impl/ucx/packed_key.h"

namespace armci::ucx {

class Client;
class Context;
class MappedMemory;
class Regions;
class Server;

class Transport {
 public:
  Transport();
  ~Transport();

  using Key = PackedKey;
  struct Completion {
    std::uint64_t operation = 0;

    bool complete() const { return operation == 0; }
  };
  static constexpr common::TransportTraits kTraits = {.name = "ucx",
                                                      .reaches_nodes = true,
                                                      .wants_on_node = false,
                                                      .in_order = true,
                                                      .atomicity = common::Atomicity::kNodeCpu};

  common::Status initialise(const common::World& world);
  void finalise();
  common::Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  common::Status register_region(const common::GroupView& group, std::span<const common::Exposed> parts,
                                 std::span<Key> keys);
  void deregister_region(const Key& key);
  void register_local(void* base, std::size_t bytes);
  void deregister_local(void* base);

  common::Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                     Completion* completion);
  common::Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                     Completion* completion);
  common::Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes);
  common::Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes);
  common::Status put_strided(int target, const Key& key, void* remote, const void* local, const common::Strided& shape,
                             Completion* completion);
  common::Status get_strided(int target, const Key& key, const void* remote, void* local, const common::Strided& shape,
                             Completion* completion);
  common::Status put_list(int target, const Key& key, const common::Segments& list, Completion* completion);
  common::Status get_list(int target, const Key& key, const common::Segments& list, Completion* completion);
  common::Status accumulate_strided(int target, const Key&, void* remote, const void* local,
                                    const common::Strided& shape, const common::AccSpec& acc, Completion*);
  common::Status accumulate_list(int target, const Key&, const common::Segments& list, const common::AccSpec& acc,
                                 Completion*);
  common::Status atomic64(int target, const Key&, void* remote, common::AtomicOp op, std::int64_t operand,
                          std::int64_t compare, std::int64_t* before);
  common::Status atomic32(int target, const Key&, void* remote, common::AtomicOp op, std::int32_t operand,
                          std::int32_t compare, std::int32_t* before);
  common::Status test(Completion* completion, bool* done);
  common::Status flush(int target);
  common::Status flush_all();
  void progress();
  std::size_t buffer_bytes();
  std::span<const common::Choice> choices() const { return choices_.all(); }

 private:
  common::Status connect(const common::World& world);
  common::Status tell_choices(const common::World& world);

  // In a job of one node there is none of these.
  MPI_Comm comm_ = MPI_COMM_NULL;  // of all, while there are servers
  std::unique_ptr<Context> context_;
  std::unique_ptr<MappedMemory> mapped_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Regions> regions_;
  common::ChoiceList choices_;
};

static_assert(common::Transport<Transport>);
static_assert(common::TransfersAtOnce<Transport> && common::HasAtomic32<Transport> && common::FlushesAll<Transport>);
static_assert(common::TellsCompletion<Transport> && common::RegistersCollectively<Transport>);
static_assert(common::RegistersLocal<Transport>);
static_assert(common::MovesShapes<Transport> && common::Accumulates<Transport> && common::HasChoices<Transport>);
static_assert(common::HasBuffers<Transport>);

}  // namespace armci::ucx

namespace armci {
using SelectedTransport = ucx::Transport;
}
