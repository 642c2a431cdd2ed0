// The native-verbs implementation: ARMCI over RDMA by libibverbs, with a server thread on each node for what RDMA
// cannot do.
//
// On a node memory is loaded and stored directly, as in impl/shmem. Memory of other nodes is written and read by the
// device; accumulates, read-modify-writes, mutexes and short rows are executed by that node's server (server.h) with
// the same CPU instructions as the node's own processes, so that all are atomic together. HCA atomics are not used:
// they are not atomic with the CPU's.
//
// Links are reliable connections, one from a process to each node's server that it has talked to. Order: see client.h.
//
// Thread safety: as the contract asks, at every thread level of MPI: the server calls libibverbs only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/common/choice_list.h"
#include "impl/common/transport.h"
#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/client.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/registrations.h"
#include "impl/native-verbs/server.h"
#include "impl/native-verbs/traffic.h"

namespace armci::verbs {

class Transport {
 public:
  struct Key {
    std::uint32_t remote = 0;  // of the registration that the owner's server has
    std::uint64_t base = 0;
  };
  struct Completion {
    Mark mark;

    bool complete() const { return mark.none(); }
  };
  static constexpr common::TransportTraits kTraits = {.name = "native-verbs",
                                                      .reaches_nodes = true,
                                                      .wants_on_node = false,
                                                      .in_order = true,
                                                      .atomicity = common::Atomicity::kNodeCpu};

  common::Status initialise(const common::World& world);
  void finalise();
  common::Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  common::Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion*);
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
  common::Status flush(int target) { return client_->flush(node_of(target)); }
  common::Status flush_all() { return client_->flush_all(); }
  void progress() {}
  std::size_t buffer_bytes();
  std::span<const common::Choice> choices() const { return choices_.all(); }

  // Memory of this process alone, for local buffers.
  void register_local(void* base, std::size_t bytes);
  void deregister_local(void* base);

 private:
  int node_of(int target) const { return world_->node_of(target); }
  Target at(int target, const Key& key) const { return {node_of(target), key.remote}; }
  common::Status open(const common::World& world);
  common::Status connect(const common::World& world);

  const common::World* world_ = nullptr;  // where there are links
  common::ChoiceList choices_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Server> server_;  // on the first process of a node
  std::unique_ptr<Registrations> registrations_;
  std::unique_ptr<Caller> caller_;
  std::unique_ptr<Traffic> traffic_;
  std::unique_ptr<Client> client_;  // none in a job of one node
};

static_assert(common::Transport<Transport>);
static_assert(common::TransfersAtOnce<Transport> && common::HasAtomic32<Transport> && common::FlushesAll<Transport>);
static_assert(common::TellsCompletion<Transport> && common::HasBuffers<Transport> && common::Accumulates<Transport>);
static_assert(common::MovesShapes<Transport> && common::RegistersLocal<Transport> && common::HasChoices<Transport>);

}  // namespace armci::verbs

namespace armci {
using SelectedTransport = verbs::Transport;
}
