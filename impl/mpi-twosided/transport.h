// The mpi-twosided implementation: ARMCI over messages of MPI, with a server on each node.
//
// Within a node processes load and store the memory directly (impl/node). For another node a process sends requests to
// that node's server (impl/engine/server.h), a thread or a process (ARMCI_SERVER). The server executes them with the
// same CPU instructions as the node's own processes, so that all are atomic together.
//
// Thread safety: as the contract requires. Servers that are threads need MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <memory>

#include "impl/engine/calls.h"
#include "impl/mpi-twosided/client_wire.h"
#include "impl/mpi-twosided/progress_thread.h"
#include "impl/mpi-twosided/server_process.h"
#include "impl/mpi-twosided/server_wire.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"

namespace armci::twosided {

// The server needs addresses only.
struct NoKey {};

class Transport : public engine::Calls<NoKey> {
 public:
  Transport() = default;
  // A program that ends without finalise().
  ~Transport() { end(); }

  static constexpr runtime::TransportTraits kTraits = {.name = "mpi-twosided",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu,
                                                       .thread_calls_mpi = true};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void*, std::size_t, Key*) { return kSuccess; }
  void deregister_memory(const Key&) {}
  void progress();
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

 private:
  Status open(const runtime::World& world, ReceiveBuffers receive_buffers, const engine::Routes& routes,
              bool background_progress);
  Status start_threads(bool threads);
  // Has a thread make progress for the client.
  void wake();
  void end();
  MPI_Comm world_comm_ = MPI_COMM_NULL;              // the world's, while there are servers
  std::unique_ptr<ServerProcesses> processes_;       // servers that are processes
  Comms comms_;                                      // theirs if there are any
  std::unique_ptr<ClientWire> client_wire_;          // none in a job of one node
  std::unique_ptr<ServerWire> server_wire_;          // on the first process of a node
  std::unique_ptr<ProgressThread> progress_thread_;  // on a process without a server thread, with MPI_THREAD_MULTIPLE
  runtime::ChoiceList choices_;
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::ExecutesRmw<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::HasBuffers<Transport> &&
              runtime::HasChoices<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::Accumulates<Transport>);

}  // namespace armci::twosided

namespace armci {
using SelectedTransport = twosided::Transport;
}
