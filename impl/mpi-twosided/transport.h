// The mpi-twosided implementation: ARMCI over messages of MPI, with a server on each node.
//
// On a node memory is loaded and stored directly, as in impl/shmem. What a process wants of another node it asks that
// node's server for (server.h), a thread or a process (ARMCI_SERVER) that executes requests with the same CPU
// instructions as the node's own processes, so that all are atomic together.
//
// Thread safety: as the contract asks; servers that are threads need MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/common/choice_list.h"
#include "impl/common/transport.h"
#include "impl/mpi-twosided/client.h"
#include "impl/mpi-twosided/companion.h"
#include "impl/mpi-twosided/server.h"
#include "impl/mpi-twosided/server_process.h"

namespace armci::twosided {

class Transport {
 public:
  struct Key {};  // addresses are all that the server needs
  struct Completion {
    std::uint64_t operation = 0;  // 0: complete

    bool complete() const { return operation == 0; }
  };
  static constexpr common::TransportTraits kTraits = {.name = "mpi-twosided",
                                                      .reaches_nodes = true,
                                                      .wants_on_node = false,
                                                      .in_order = true,
                                                      .atomicity = common::Atomicity::kNodeCpu};

  common::Status initialise(const common::World& world);
  void finalise();
  common::Status register_memory(void*, std::size_t, Key*) { return common::kSuccess; }
  void deregister_memory(const Key&) {}
  common::Status put(int target, const Key&, void* remote, const void* local, std::size_t bytes,
                     Completion* completion);
  common::Status get(int target, const Key&, const void* remote, void* local, std::size_t bytes,
                     Completion* completion);
  common::Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes);
  common::Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes);
  common::Status put_strided(int target, const Key&, void* remote, const void* local, const common::Strided& shape,
                             Completion*);
  common::Status get_strided(int target, const Key&, const void* remote, void* local, const common::Strided& shape,
                             Completion* completion);
  common::Status put_list(int target, const Key&, const common::Segments& list, Completion*);
  common::Status get_list(int target, const Key&, const common::Segments& list, Completion* completion);
  common::Status accumulate_strided(int target, const Key&, void* remote, const void* local,
                                    const common::Strided& shape, const common::AccSpec& acc, Completion*);
  common::Status accumulate_list(int target, const Key&, const common::Segments& list, const common::AccSpec& acc,
                                 Completion*);
  common::Status atomic64(int target, const Key&, void* remote, common::AtomicOp op, std::int64_t operand,
                          std::int64_t compare, std::int64_t* before);
  common::Status atomic32(int target, const Key&, void* remote, common::AtomicOp op, std::int32_t operand,
                          std::int32_t compare, std::int32_t* before);
  common::Status test(Completion* completion, bool* done);
  common::Status flush(int target) { return client_->flush(target); }
  common::Status flush_all() { return client_->flush_all(); }
  void progress();
  std::size_t buffer_bytes();
  std::span<const common::Choice> choices() const { return choices_.all(); }

 private:
  common::Status open(const common::World& world, Room room, const Routes& routes, bool helped);
  common::Status start_threads(bool threads);
  // After every call that may leave something under way that nobody waits for.
  common::Status begun();
  common::Status finish(std::uint64_t operation, Completion* completion);

  MPI_Comm world_comm_ = MPI_COMM_NULL;         // the world's, while there are servers
  std::unique_ptr<ServerProcesses> processes_;  // servers that are processes
  Comms comms_;                                 // theirs if there are any
  std::unique_ptr<Client> client_;              // none in a job of one node
  std::unique_ptr<Server> server_;              // a thread, on the first process of a node
  std::unique_ptr<Companion> companion_;        // on a process without one, if MPI lets several threads call it
  common::ChoiceList choices_;
  bool alone_ = false;  // no thread helps
};

static_assert(common::Transport<Transport>);
static_assert(common::TransfersAtOnce<Transport> && common::HasAtomic32<Transport> && common::FlushesAll<Transport>);
static_assert(common::TellsCompletion<Transport> && common::HasBuffers<Transport> && common::HasChoices<Transport>);
static_assert(common::MovesShapes<Transport> && common::Accumulates<Transport>);

}  // namespace armci::twosided

namespace armci {
using SelectedTransport = twosided::Transport;
}
