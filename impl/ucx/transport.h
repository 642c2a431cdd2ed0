// The ucx implementation: ARMCI over UCX's one-sided and active messages.
//
// Each process has a server (server.h), a thread that uses UCX alone, and a client (client.h), which sends requests.
// The network, or that thread where the network cannot, moves what is put and got. Atomics are requests, which the
// target's server executes with the CPU instructions of its node: UCX's own may be made by a device, and would not be
// atomic with the CPU's.
//
// Limits, and what happens at them: client.h.
//
// Thread safety: as the contract requires, at every thread level of MPI: the thread calls UCX only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"
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
  static constexpr runtime::TransportTraits kTraits = {.name = "ucx",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  Status register_region(const runtime::GroupView& group, std::span<const runtime::Exposed> parts, std::span<Key> keys);
  void deregister_region(const Key& key);
  void register_local(void* base, std::size_t bytes);
  void deregister_local(void* base);

  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes);
  Status put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes);
  Status put_strided(int target, const Key& key, void* remote, const void* local, const runtime::Strided& shape,
                     Completion* completion);
  Status get_strided(int target, const Key& key, const void* remote, void* local, const runtime::Strided& shape,
                     Completion* completion);
  Status put_list(int target, const Key& key, const runtime::Segments& list, Completion* completion);
  Status get_list(int target, const Key& key, const runtime::Segments& list, Completion* completion);
  Status accumulate_strided(int target, const Key&, void* remote, const void* local, const runtime::Strided& shape,
                            const node::AccSpec& acc, Completion*);
  Status accumulate_list(int target, const Key&, const runtime::Segments& list, const node::AccSpec& acc, Completion*);
  Status atomic64(int target, const Key&, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before);
  Status atomic32(int target, const Key&, void* remote, runtime::AtomicOp op, std::int32_t operand,
                  std::int32_t compare, std::int32_t* before);
  Status test(Completion* completion, bool* done);
  Status flush(int target);
  Status flush_all();
  void progress();
  std::size_t buffer_bytes();
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

 private:
  Status connect(const runtime::World& world);
  Status share_choices(const runtime::World& world);

  // In a job of one node there is none of these.
  MPI_Comm comm_ = MPI_COMM_NULL;  // of all, while there are servers
  std::unique_ptr<Context> context_;
  std::unique_ptr<MappedMemory> mapped_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Regions> regions_;
  runtime::ChoiceList choices_;
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::HasAtomic32<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::RegistersCollectively<Transport>);
static_assert(runtime::RegistersLocal<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::Accumulates<Transport> && runtime::HasChoices<Transport>);
static_assert(runtime::HasBuffers<Transport>);

}  // namespace armci::ucx

namespace armci {
using SelectedTransport = ucx::Transport;
}
