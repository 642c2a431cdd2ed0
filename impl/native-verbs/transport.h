// The native-verbs implementation: ARMCI over RDMA by libibverbs, with a server thread on each node for what RDMA
// cannot do.
//
// On a node memory is loaded and stored directly, as in impl/node. Memory of other nodes is written and read by the
// device; that node's server executes accumulates, read-modify-writes, mutexes and short rows (impl/engine). It uses
// the same CPU instructions as the node's own processes, so that all are atomic together. HCA atomics are not used:
// they are not atomic with the CPU's.
//
// Links are reliable connections, one from a process to each node's server that it has connected to. Order: see
// client_wire.h.
//
// Thread safety: as the contract requires, at every thread level of MPI: the server calls libibverbs only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "impl/engine/calls.h"
#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/client_wire.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/registrations.h"
#include "impl/native-verbs/server_wire.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"

namespace armci::verbs {

class Transport : public engine::Calls<RemoteKey> {
 public:
  Transport() = default;
  // A program that ends without finalise().
  ~Transport() { end(); }

  static constexpr runtime::TransportTraits kTraits = {.name = "native-verbs",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  void progress();
  void set_wake_ups(std::vector<node::WakeUp*> all);
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

  // Memory of this process alone, for local buffers.
  void register_local(void* base, std::size_t bytes);
  void deregister_local(void* base);

 private:
  Status open(const runtime::World& world);
  Status connect(const runtime::World& world);
  Status connect_servers(const runtime::World& world);
  void end();

  const runtime::World* world_ = nullptr;  // where there are links
  runtime::ChoiceList choices_;
  // In a job of one node there is none of these.
  std::unique_ptr<Device> device_;
  std::unique_ptr<Registrations> registrations_;
  std::unique_ptr<Caller> caller_;
  std::unique_ptr<ServerWire> server_wire_;  // on the first process of a node
  std::unique_ptr<ClientWire> client_wire_;
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport> && runtime::WakesThreads<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::ExecutesRmw<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::HasBuffers<Transport> &&
              runtime::Accumulates<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::RegistersLocal<Transport> && runtime::HasChoices<Transport>);

}  // namespace armci::verbs

namespace armci {
using SelectedTransport = verbs::Transport;
}
