// The ucx implementation: ARMCI over UCX, with a thread in each process for what the network does not do.
//
// On a node memory is loaded and stored directly, as in impl/shmem. Memory of other nodes is written and read by
// ucp_put_nbx and ucp_get_nbx where a device carries them out (client.h). Accumulates, read-modify-writes, mutexes and
// short rows are active messages, and everything is where there is no such device; the owner's thread executes them
// with the CPU instructions of its node's processes (server.h, progress.h), so that all are atomic together. Atomics of
// UCX are not used: on most transports they are not atomic with the CPU's.
//
// Connections are made at first use, one from a process to each process of other nodes that it talks to. Order: see
// client.h.
//
// Thread safety: as the contract asks, at every thread level of MPI: the thread calls UCX only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/common/transport.h"
#include "impl/ucx/client.h"
#include "impl/ucx/context.h"
#include "impl/ucx/progress.h"
#include "impl/ucx/regions.h"
#include "impl/ucx/server.h"

namespace armci::ucx {

class Transport {
 public:
  struct Key {
    Part* part = nullptr;  // of this process's table; nullptr: by request
  };
  struct Completion {
    Mark mark;

    bool complete() const { return mark.none(); }
  };
  static constexpr common::TransportTraits kTraits = {.name = "ucx",
                                                      .reaches_nodes = true,
                                                      .wants_on_node = false,
                                                      .in_order = false,
                                                      .atomicity = common::Atomicity::kNodeCpu};

  common::Status initialise(const common::World& world);
  void finalise();
  // Of memory that one process allocates alone, whose key would have to be brought to others: by request.
  common::Status register_memory(void*, std::size_t, Key*) { return common::kSuccess; }
  void deregister_memory(const Key&) {}
  common::Status register_region(const common::GroupView& group, std::span<const common::Exposed> parts,
                                 std::span<Key> keys);
  void deregister_region(const Key& key);
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
  common::Status test(Completion* completion, bool* done) { return client_->test(completion->mark, done); }
  common::Status flush(int target) { return client_->flush(target); }
  common::Status flush_all() { return client_->flush_all(); }
  void progress() {}

 private:
  common::Status open(const common::World& world);
  common::Status agree_on_rma(const common::World& world);
  common::Status connect(const common::World& world);
  void tell_transports(const common::World& world);

  const common::World* world_ = nullptr;  // of a job of several nodes, once all have connected
  bool uses_rma_ = false;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Regions> regions_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;  // none in a job of one node
  std::unique_ptr<Progress> progress_;
};

static_assert(common::Transport<Transport>);
static_assert(common::RegistersCollectively<Transport> && common::TransfersAtOnce<Transport>);
static_assert(common::HasAtomic32<Transport> && common::FlushesAll<Transport> && common::TellsCompletion<Transport>);
static_assert(common::MovesShapes<Transport> && common::Accumulates<Transport>);

}  // namespace armci::ucx

namespace armci {
using SelectedTransport = ucx::Transport;
}
