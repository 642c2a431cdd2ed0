// Runtime<T>: start and end. Included by runtime.h.
#pragma once

#include "impl/node/agree.h"
#include "impl/node/wait.h"
#include "impl/runtime/implementations.h"
#include "impl/runtime/runtime.h"

namespace armci::runtime {

template <class T>
Status Runtime<T>::create_resources(Group& group) {
  const int on_node = static_cast<int>(group.on_node().size());
  std::uint64_t mine = 0;
  Status status;
  if (group.is_master()) {
    void* memory = nullptr;
    status = node::node_memory().take(group_area_bytes(on_node), &memory);
    if (status.ok()) {
      status = node::node_memory().commit(memory, group_area_bytes(on_node));
      if (!status.ok()) node::node_memory().give_back(memory, group_area_bytes(on_node));
    }
    if (status.ok()) mine = reinterpret_cast<std::uint64_t>(new (memory) node::Barrier());
  }
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.size()));
  ARMCI_MPI(MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, group.comm()));
  group.barrier = reinterpret_cast<node::Barrier*>(all[static_cast<std::size_t>(group.on_node()[0])]);
  ARMCI_RETURN_IF_ERROR(status);
  for (int master : group.masters()) {
    if (all[static_cast<std::size_t>(master)] == 0) {
      return fail(Code::kMemory, "MEM-8", "process %d ran out of node memory, see its message",
                  group.absolute_id(master));
    }
  }
  if (is_verbose(Verbosity::kObjects) && group.rank() == 0) {
    log_line("made group %lld of %d processes on %zu nodes", static_cast<long long>(group.serial()), group.size(),
             group.masters().size());
  }
  if (group.single_node()) group.exchange_slots = reinterpret_cast<node::ExchangeSlot*>(group.barrier + 1);
  return kSuccess;
}

// The last member of the node to call this frees the memory: no member uses it any more, and none waits.
template <class T>
Status Runtime<T>::destroy_resources(Group& group) {
  const auto on_node = static_cast<std::uint32_t>(group.on_node().size());
  if (is_verbose(Verbosity::kObjects) && group.rank() == 0)
    log_line("frees group %lld", static_cast<long long>(group.serial()));
  if (group.barrier->leavers.fetch_add(1, std::memory_order_acq_rel) + 1 == on_node) {
    node::node_memory().give_back(group.barrier, group_area_bytes(static_cast<int>(on_node)));
  }
  return groups().release(&group);
}

// all[r] receives the record of group rank r. Collective over the group.
template <class T>
template <class Record>
Status Runtime<T>::allgather(Group& group, const Record& mine, Record* all) {
  static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) <= node::kExchangeBytesMax);
  if (group.exchange_slots != nullptr) {
    node::exchange(group.exchange_slots, group.barrier, group.size(), group.rank(), group.exchanges++, &mine, all,
                   sizeof mine);
    return kSuccess;
  }
  ARMCI_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, group.comm()));
  return kSuccess;
}

template <class T>
void Runtime<T>::prepare(const World& job) {
  rank_ = job.rank();
  size_ = job.size();
  handoff_us_ = config().mutex_handoff_us;
  regions_.initialise(size_);
  region_usage_ = RegionUsage();
  aggregates_.clear();
  handles_.clear();
  mutex_sets_.clear();
  several_nodes_ = !kNodeOnly && job.node_count() > 1;
  const Routing routing = route_of<T>(job);
  const int on_node = kSameNode | (routing.cpu_copies ? kCpuCopies : 0) | (routing.cpu_atomics ? kCpuAtomics : 0);
  path_flags_.assign(static_cast<std::size_t>(size_), 0);
  for (int proc = 0; proc < size_; ++proc) {
    if (job.same_node(proc)) path_flags_[static_cast<std::size_t>(proc)] = static_cast<unsigned char>(on_node);
  }
  unflushed_ = std::vector<Unflushed>(static_cast<std::size_t>(size_));
  notifications_ = std::vector<std::atomic<std::uint64_t>>(static_cast<std::size_t>(size_));
  notified_.assign(static_cast<std::size_t>(size_), 0);
}

// Lets the transport choose the provider of memory before the world is created. All calls that report the node size
// then report the transport's [DOM-1, EXT-8].
template <class T>
Status Runtime<T>::choose_provider([[maybe_unused]] MPI_Comm parent) {
  if constexpr (ProvidesMemory<T>) {
    Config settings = config();
    ARMCI_RETURN_IF_ERROR(transport_.choose_provider(parent, &settings.node_size));
    set_config(settings);
  }
  return kSuccess;
}

template <class T>
Status Runtime<T>::initialise(MPI_Comm parent) {
  ARMCI_RETURN_IF_ERROR(choose_provider(parent));
  const Config& settings = config();
  World& job = world();
  ARMCI_RETURN_IF_ERROR(job.initialise(parent, settings.node_size));
  if (!T::kTraits.reaches_nodes && job.node_count() > 1) {
    return fail(
        Code::kUnsupported, nullptr,
        "the %s implementation works on one node, but this job has %d nodes%s; link %s, which reach other nodes, "
        "or start all processes on one node",
        T::kTraits.name, job.node_count(), job.simulated() ? " (simulated by ARMCI_NODE_SIZE)" : "",
        implementations_between_nodes());
  }
  const int duplicated = node::start_mpi_progress(job.comm());
  const Status prepared =
      duplicated == MPI_SUCCESS ? set_server_cpus(settings.server_cpus) : fail_mpi(duplicated, "MPI_Comm_dup");
  ARMCI_RETURN_IF_ERROR(node::agree(job.comm(), prepared, "preparing threads and MPI's progress"));
  node::set_spin_policy(job.machine_processes(), job.machine_cpus(), settings.spin_iterations);
  node::copy_initialise();
  const node::NodeMemoryOptions options{settings.shm_dir, static_cast<std::size_t>(settings.shm_reserve_bytes),
                                        static_cast<std::size_t>(settings.shm_retain_bytes), job.rank()};
  Status mine = node::node_memory().attach(job.machine_comm(), options);
  ARMCI_RETURN_IF_ERROR(node::agree(job.comm(), mine, "setting up node memory"));
  prepare(job);
  ARMCI_RETURN_IF_ERROR(groups().initialise(job.comm()));
  ARMCI_RETURN_IF_ERROR(create_resources(groups().world()));
  transport_started_ = true;
  ARMCI_RETURN_IF_ERROR(node::agree(job.comm(), transport_.initialise(job), "starting the transport"));
  const std::size_t service_bytes = sizeof(Service) + static_cast<std::size_t>(size_) * sizeof(std::uint64_t);
  ARMCI_RETURN_IF_ERROR(allocate_region(groups().world(), static_cast<std::int64_t>(service_bytes), &service_));
  std::memset(service_->parts[static_cast<std::size_t>(rank_)].base, 0, service_bytes);
  set_wake_ups();
  return barrier(groups().world());
}

template <class T>
void Runtime<T>::set_wake_ups() {
  if constexpr (WakesThreads<T>) {
    std::vector<node::WakeUp*> all(static_cast<std::size_t>(size_));
    for (int proc = 0; proc < size_; ++proc) {
      if (same_node(proc)) all[static_cast<std::size_t>(proc)] = wake_up_of(proc);
    }
    transport_.set_wake_ups(std::move(all));
  }
}

template <class T>
void Runtime<T>::abandon() {
  if (transport_started_) transport_.finalise();
  transport_started_ = false;
  service_ = nullptr;
  node::stop_mpi_progress();
  groups().finalise();
  node::node_memory().detach();
  world().finalise();
  rank_ = -1;
  size_ = 0;
}

// Collective. Completes outstanding operations, then destroys all objects in the reverse order of their creation.
template <class T>
Status Runtime<T>::finalise() {
  Status status = barrier(groups().world());
  node::node_memory().announce_leaving();
  world_mutexes.reset();
  mutex_sets_.clear();
  for (std::int64_t id : regions_.ids()) dispose(regions_.remove(id), false);
  service_ = nullptr;
  transport_.finalise();
  transport_started_ = false;
  aggregates_.clear();
  handles_.clear();
  const int left = [] {
    const node::CollectiveWait waiting;
    return MPI_Barrier(world().comm());
  }();
  if (left != MPI_SUCCESS && status.ok()) status = fail_mpi(left, "MPI_Barrier");
  node::stop_mpi_progress();  // nothing waits after this
  groups().finalise();
  node::node_memory().detach();
  world().finalise();
  rank_ = -1;
  size_ = 0;
  return status;
}

}  // namespace armci::runtime
