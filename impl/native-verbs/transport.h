// The native-verbs implementation: ARMCI over RDMA by libibverbs, with a server thread on each node for what RDMA
// cannot do.
//
// On a node memory is loaded and stored directly, as in impl/node. Memory of other nodes is written and read by the
// device; that node's server executes accumulates, read-modify-writes, mutexes and short rows (server.h). It uses the
// same CPU instructions as the node's own processes, so that all are atomic together. HCA atomics are not used: they
// are not atomic with the CPU's.
//
// Links are reliable connections, one from a process to each node's server that it has connected to. Order: see
// client.h.
//
// Thread safety: as the contract requires, at every thread level of MPI: the server calls libibverbs only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/client.h"
#include "impl/native-verbs/connection_manager.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/registrations.h"
#include "impl/native-verbs/server.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"

namespace armci::verbs {

class Transport {
 public:
  struct Key {
    std::uint32_t remote = 0;  // of the registration that the owner's server has
    std::uint64_t base = 0;
  };
  struct Completion {
    CompletionPoint point;

    bool complete() const { return point.none(); }
  };
  static constexpr runtime::TransportTraits kTraits = {.name = "native-verbs",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion*);
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
  Status flush(int target) { return client_->flush(node_of(target)); }
  Status flush_all() { return client_->flush_all(); }
  void progress();
  std::size_t buffer_bytes();
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

  // Memory of this process alone, for local buffers.
  void register_local(void* base, std::size_t bytes);
  void deregister_local(void* base);

 private:
  int node_of(int target) const { return world_->node_of(target); }
  Target at(int target, const Key& key) const { return {node_of(target), key.remote}; }
  Status open(const runtime::World& world);
  Status connect(const runtime::World& world);

  const runtime::World* world_ = nullptr;  // where there are links
  runtime::ChoiceList choices_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Server> server_;  // on the first process of a node
  std::unique_ptr<Registrations> registrations_;
  std::unique_ptr<Caller> caller_;
  std::unique_ptr<ConnectionManager> connections_;
  std::unique_ptr<Client> client_;  // none in a job of one node
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::HasAtomic32<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::HasBuffers<Transport> &&
              runtime::Accumulates<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::RegistersLocal<Transport> && runtime::HasChoices<Transport>);

}  // namespace armci::verbs

namespace armci {
using SelectedTransport = verbs::Transport;
}
