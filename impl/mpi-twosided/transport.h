// The mpi-twosided implementation: ARMCI over messages of MPI, with a server on each node.
//
// Within a node processes load and store the memory directly (impl/node). For another node a process sends requests to
// that node's server (server.h), a thread or a process (ARMCI_SERVER). The server executes them with the same CPU
// instructions as the node's own processes, so that all are atomic together.
//
// Thread safety: as the contract requires. Servers that are threads need MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/mpi-twosided/client.h"
#include "impl/mpi-twosided/progress_thread.h"
#include "impl/mpi-twosided/server.h"
#include "impl/mpi-twosided/server_process.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"

namespace armci::twosided {

class Transport {
 public:
  struct Key {};  // the server needs addresses only
  struct Completion {
    std::uint64_t operation = 0;  // 0: complete

    bool complete() const { return operation == 0; }
  };
  static constexpr runtime::TransportTraits kTraits = {.name = "mpi-twosided",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void*, std::size_t, Key*) { return kSuccess; }
  void deregister_memory(const Key&) {}
  Status put(int target, const Key&, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key&, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes);
  Status put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes);
  Status put_strided(int target, const Key&, void* remote, const void* local, const runtime::Strided& shape,
                     Completion*);
  Status get_strided(int target, const Key&, const void* remote, void* local, const runtime::Strided& shape,
                     Completion* completion);
  Status put_list(int target, const Key&, const runtime::Segments& list, Completion*);
  Status get_list(int target, const Key&, const runtime::Segments& list, Completion* completion);
  Status accumulate_strided(int target, const Key&, void* remote, const void* local, const runtime::Strided& shape,
                            const node::AccSpec& acc, Completion*);
  Status accumulate_list(int target, const Key&, const runtime::Segments& list, const node::AccSpec& acc, Completion*);
  Status atomic64(int target, const Key&, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before);
  Status atomic32(int target, const Key&, void* remote, runtime::AtomicOp op, std::int32_t operand,
                  std::int32_t compare, std::int32_t* before);
  Status test(Completion* completion, bool* done);
  Status flush(int target) { return client_->flush(target); }
  Status flush_all() { return client_->flush_all(); }
  void progress();
  std::size_t buffer_bytes();
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

 private:
  Status open(const runtime::World& world, ReceiveBuffers receive_buffers, const Routes& routes,
              bool background_progress);
  Status start_threads(bool threads);
  // To be called after every call that may leave a pending operation.
  Status issued();
  Status finish(std::uint64_t operation, Completion* completion);

  MPI_Comm world_comm_ = MPI_COMM_NULL;              // the world's, while there are servers
  std::unique_ptr<ServerProcesses> processes_;       // servers that are processes
  Comms comms_;                                      // theirs if there are any
  std::unique_ptr<Client> client_;                   // none in a job of one node
  std::unique_ptr<Server> server_;                   // a thread, on the first process of a node
  std::unique_ptr<ProgressThread> progress_thread_;  // on a process without a server thread, with MPI_THREAD_MULTIPLE
  runtime::ChoiceList choices_;
  bool without_threads_ = false;  // no thread makes progress
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::Signals<Transport>);
static_assert(runtime::TransfersAtOnce<Transport> && runtime::HasAtomic32<Transport> && runtime::FlushesAll<Transport>);
static_assert(runtime::ReportsCompletion<Transport> && runtime::HasBuffers<Transport> &&
              runtime::HasChoices<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::Accumulates<Transport>);

}  // namespace armci::twosided

namespace armci {
using SelectedTransport = twosided::Transport;
}
