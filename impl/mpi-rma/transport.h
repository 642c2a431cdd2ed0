// The mpi-rma implementation: ARMCI over MPI-3 one-sided communication.
//
// A region is node memory (impl/node) that a window of MPI exposes; on a node it is loaded and stored directly, other
// nodes reach it by MPI_Put, MPI_Get and MPI's atomics. Where the whole job is one node, nothing is left for MPI to do.
// docs/mpi-rma.md explains the design.
//
// Thread safety: as the contract says; needs MPI_THREAD_MULTIPLE where a progress thread runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "impl/mpi-rma/dynamic_window.h"
#include "impl/mpi-rma/exposed_regions.h"
#include "impl/mpi-rma/held_stores.h"
#include "impl/mpi-rma/message_mutexes.h"
#include "impl/mpi-rma/noncontiguous.h"
#include "impl/mpi-rma/preflight/preflight.h"
#include "impl/mpi-rma/progress.h"
#include "impl/mpi-rma/region_memory.h"
#include "impl/mpi-rma/settings.h"
#include "impl/mpi-rma/signal_channel.h"
#include "impl/mpi-rma/sync.h"
#include "impl/mpi-rma/unflushed_stores.h"
#include "impl/mpi-rma/window.h"
#include "impl/runtime/choice_list.h"
#include "impl/runtime/transport.h"

namespace armci::rma {

class Transport {
 public:
  using Key = rma::Key;
  using Completion = Pending;
  using Mutexes = MessageMutexes;
  static constexpr runtime::TransportTraits kTraits = {.name = "mpi-rma",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = true,
                                                       .in_order = false,
                                                       .atomicity = runtime::Atomicity::kTransport,
                                                       .thread_calls_mpi = true};

  static runtime::Routing route(const runtime::World& world);
  Status initialise(const runtime::World& world);
  void finalise();
  // Under ARMCI_RMA_WINDOW=allocate and shared (region_memory.h).
  Status choose_provider(MPI_Comm parent, int* node_size);
  bool provides_memory() const { return region_kind_ != RegionKind::kCreate; }
  Status provide_region(const runtime::GroupView& group, std::span<runtime::Exposed> parts, std::span<Key> keys);
  Status register_region(const runtime::GroupView& group, std::span<const runtime::Exposed> parts, std::span<Key> keys);
  void deregister_region(const Key& key);
  void set_mode(const Key& key, runtime::AccessMode mode) {
    if (key.window != nullptr) key.window->set_mode(mode);
  }
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key&) {}
  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
    return put(target, key, remote, local, bytes, nullptr);
  }
  Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
    return get(target, key, remote, local, bytes, nullptr);
  }
  Status put_strided(int target, const Key& key, void* remote, const void* local, const runtime::Strided& shape,
                     Completion* completion);
  Status get_strided(int target, const Key& key, const void* remote, void* local, const runtime::Strided& shape,
                     Completion* completion);
  Status put_list(int target, const Key& key, const runtime::Segments& list, Completion* completion);
  Status get_list(int target, const Key& key, const runtime::Segments& list, Completion* completion);
  Status accumulate_strided(int target, const Key& key, void* remote, const void* local, const runtime::Strided& shape,
                            const node::AccSpec& acc, Completion* completion);
  Status accumulate_list(int target, const Key& key, const runtime::Segments& list, const node::AccSpec& acc,
                         Completion* completion);
  Status atomic64(int target, const Key& key, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before) {
    return rmw(target, key, remote, runtime::rmw_of(op, operand, compare), before, nullptr);
  }
  Status atomic32(int target, const Key& key, void* remote, runtime::AtomicOp op, std::int32_t operand,
                  std::int32_t compare, std::int32_t* before) {
    return rmw(target, key, remote, runtime::rmw_of(op, operand, compare), before, nullptr);
  }
  // Only these: MPI may execute two kinds of fetch-and-op on one word in different ways, which are not atomic together.
  static bool executes(node::RmwOp op) { return op <= node::RmwOp::kCompareSwap; }
  Status rmw(int target, const Key& key, void* remote, const runtime::Rmw& rmw, void* before, Completion* completion);
  Status put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  bool has_signals() const { return signals_ != nullptr; }
  std::size_t buffer_bytes() const;
  Status create_mutexes(const runtime::GroupView& group, std::span<const int> counts, Mutexes** out);
  void destroy_mutexes(Mutexes* mutexes);
  Status test(Completion* completion, bool* done) { return completion->test(done); }
  Status flush(int target);
  Status flush_all();
  void progress();
  std::span<const runtime::Finding> findings() const { return reported_; }
  std::span<const runtime::Choice> choices() const { return choices_.all(); }

 private:
  Status start_progress();
  Status open_signals();
  void close_signals();
  Status apply_signal(const node::Signal& signal);
  Status open_together(const runtime::GroupView& group, const runtime::Exposed& mine, Status status,
                       std::unique_ptr<Window> window, std::unique_ptr<Window>* out);
  Place place_of(const Key& key) const { return {window_of(key), key.rank, key.base, key.window == nullptr}; }
  Window* window_of(const Key& key) const { return key.window != nullptr ? key.window : dynamic_.window(); }
  Status transfer(Kind kind, const Key& key, const void* remote, void* local, std::size_t bytes,
                  Completion* completion);
  Status stored(int target, const Key& key, Status status);
  HeldStores::Way way(int target, Completion* completion, std::size_t puts, std::size_t bytes);
  Status copy(HeldStores::Way way, int target, const Key& key, const std::vector<HeldStores::Put>& puts);
  HeldStores::Sender by_puts();
  HeldStores::Sender by_messages();
  Status put_held(int target, HeldStores::Stores* stores);
  Status send_messages(int target, HeldStores::Stores* stores);
  Status send_signal(int target, HeldStores::Stores* stores, const node::Signal& signal);
  Status flush_stores(int target);

  std::unique_ptr<Sync> sync_;
  std::optional<Findings> early_findings_;  // choose_provider() needed them
  Findings findings_;
  std::vector<runtime::Finding> reported_;
  runtime::ChoiceList choices_;
  NoncontiguousTransfer noncontiguous_;
  DynamicWindow dynamic_;
  RegionMemory region_memory_;
  RegionKind region_kind_ = RegionKind::kCreate;
  const FaultRow* hindrance_ = nullptr;  // the fault that rules out the requested kind
  ExposedRegions exposed_;
  std::unique_ptr<SignalChannel> signals_;  // nullptr: this job has none
  std::unique_ptr<ProgressThread> progress_;
  HeldStores held_;
  UnflushedStores unflushed_;
  std::vector<std::unique_ptr<Mutexes>> mutexes_;  // in the order of creation
  std::mutex mutexes_mutex_;
  MutexKind mutex_kind_ = MutexKind::kAtomic;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  bool idle_ = true;  // the CPU does everything: no windows
};

static_assert(runtime::Transport<Transport>);
static_assert(runtime::HasAtomic32<Transport> && runtime::ExecutesSomeRmw<Transport> &&
              runtime::RegistersCollectively<Transport> && runtime::TransfersAtOnce<Transport>);
static_assert(runtime::ProvidesMemory<Transport> && runtime::AppliesModes<Transport>);
static_assert(runtime::MovesShapes<Transport> && runtime::Accumulates<Transport>);
static_assert(runtime::FlushesAll<Transport> && runtime::SignalsInSomeJobs<Transport> &&
              runtime::HasBuffers<Transport>);
static_assert(runtime::MakesMutexes<Transport> && runtime::HasFindings<Transport> && runtime::HasChoices<Transport>);

}  // namespace armci::rma

namespace armci {
using SelectedTransport = rma::Transport;
}
