// The ucx implementation: ARMCI over UCX's one-sided and active messages.
//
// Each process has a server thread, and a client, which sends requests (impl/engine). Both share one worker of UCX
// (worker.h). The network moves the data of puts and gets. Where the network cannot, the server of the target does.
// Atomics are requests, which that server executes with the CPU instructions of its node: a device may execute UCX's
// own, and these would not be atomic with the CPU's.
//
// Thread safety: as the contract requires, at every thread level of MPI: the server thread does not call MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/engine/calls.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"
#include "impl/ucx/client_wire.h"
#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/server_wire.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class Regions;

class Transport : public engine::Calls<PackedKey> {
 public:
  Transport();
  ~Transport();

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
  void progress();
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

 private:
  struct Plan;

  Status open(const runtime::World& world, const Plan& plan);
  Status connect(const runtime::World& world);
  Status share_choices(const runtime::World& world);
  void end();

  // In a job of one node there is none of these.
  MPI_Comm comm_ = MPI_COMM_NULL;  // of all, while there are servers
  std::unique_ptr<Context> context_;
  std::unique_ptr<MappedMemory> mapped_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<ServerWire> server_wire_;
  std::unique_ptr<ClientWire> client_wire_;
  std::unique_ptr<Regions> regions_;
  runtime::ChoiceList choices_;
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::ExecutesRmw<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::RegistersCollectively<Transport>);
static_assert(runtime::RegistersLocal<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::Accumulates<Transport> && runtime::HasChoices<Transport>);
static_assert(runtime::HasBuffers<Transport>);

}  // namespace armci::ucx

namespace armci {
using SelectedTransport = ucx::Transport;
}
