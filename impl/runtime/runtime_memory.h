// Runtime<T>: collective allocation and release. Included by runtime.h.
//
//   every member                                             node's first member (master)
//   1 allgather sizes and the region's number
//   2 compute the layout of every node                       take a block of node memory
//     allgather block addresses: all bases are known
//   3 commit own part, register it, allgather keys and verdicts
//     all succeed, or all undo [MEM-8]                       give the block back
//
// Parts are committed by their owners, so that the pages come from the owner's memory on machines with several. Where
// the transport makes the memory (ProvidesMemory), steps 2 and 3 are its own.
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

template <class T>
Status Runtime<T>::allgather_sizes(Group& group, std::int64_t bytes, std::vector<std::int64_t>* sizes,
                                   std::int64_t* id) {
  struct Entry {
    std::int64_t bytes;
    std::int64_t id;
  };
  // The first member numbers the region; its world rank and its own count make the number unique.
  const Entry mine{bytes, (static_cast<std::int64_t>(rank_) << 40) | ++next_region_};
  std::vector<Entry> all(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, mine, all.data()));
  *id = all[0].id;
  sizes->clear();
  for (int r = 0; r < group.size(); ++r) {
    const std::int64_t wanted = all[static_cast<std::size_t>(r)].bytes;
    if (wanted < 0) {
      return fail(Code::kLength, "ERR-1", "argument bytes = %lld of process %d is negative; pass 0 or more",
                  static_cast<long long>(wanted), group.absolute_id(r));
    }
    sizes->push_back(wanted);
  }
  return kSuccess;
}

template <class T>
auto Runtime<T>::lay_out(const Group& group, const std::vector<std::int64_t>& sizes, Status* status) const -> Layout {
  Layout layout;
  layout.offset.resize(sizes.size());
  layout.bytes_of_node.resize(static_cast<std::size_t>(world().node_count()));
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    std::size_t& end =
        layout.bytes_of_node[static_cast<std::size_t>(world().node_of(group.absolute_id(static_cast<int>(r))))];
    const auto bytes = static_cast<std::size_t>(sizes[r]);
    // Large parts begin on a page of their own.
    const std::size_t alignment = bytes >= node::kPageBytes ? node::kPageBytes : kPartAlignment;
    layout.offset[r] = node::round_up(end, alignment);
    // Offsets of sizes near 2^63 would wrap; half of the range is more than any machine has.
    if (bytes > kLargestBlock || layout.offset[r] + bytes > kLargestBlock) {
      *status =
          fail(Code::kMemory, "MEM-8",
               "argument bytes = %zu, with the parts of the other processes, is more than a node can have; pass fewer",
               bytes);
      return layout;
    }
    end = layout.offset[r] + node::round_up(bytes, kPartAlignment);
  }
  return layout;
}

// Step 2: takes a block on each node, and computes all bases from the addresses of the blocks.
template <class T>
Status Runtime<T>::take_blocks(Group& group, const Layout& layout, RegionType* region) {
  struct Entry {
    std::uint64_t block;
    std::int64_t code;
  } mine{0, 0};
  const std::size_t node_bytes = layout.bytes_of_node[static_cast<std::size_t>(world().my_node())];
  Status status;
  if (group.is_master() && node_bytes > 0) {
    void* block = nullptr;
    status = node::node_memory().take(node_bytes, &block);
    mine = {reinterpret_cast<std::uint64_t>(block), status.value()};
  }
  std::vector<Entry> all(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, mine, all.data()));
  std::vector<std::uint64_t> block_of_node(layout.bytes_of_node.size());
  for (int master : group.masters()) {
    const Entry& entry = all[static_cast<std::size_t>(master)];
    if (entry.code != 0 && status.ok()) {
      status = fail(Code::kMemory, "MEM-8", "process %d could not get node memory, see its message",
                    group.absolute_id(master));
    }
    block_of_node[static_cast<std::size_t>(world().node_of(group.absolute_id(master)))] = entry.block;
  }
  region->block = reinterpret_cast<void*>(block_of_node[static_cast<std::size_t>(world().my_node())]);
  region->block_bytes = node_bytes;
  for (std::size_t r = 0; r < region->parts.size(); ++r) {
    Part& part = region->parts[r];
    if (part.bytes == 0) continue;
    const auto node = static_cast<std::size_t>(world().node_of(part.proc));
    part.base = reinterpret_cast<char*>(block_of_node[node] + layout.offset[r]);
  }
  return status;
}

template <class T>
Status Runtime<T>::check_limit(std::size_t bytes) const {
  const auto limit = static_cast<std::uint64_t>(config().max_shm_bytes);
  if (limit == 0 || region_usage_.bytes + bytes <= limit) return kSuccess;
  return fail(
      Code::kMemory, "MEM-8",
      "argument bytes = %zu, with the %llu allocated, exceeds this process's limit of %llu; raise ARMCI_MAX_SHM", bytes,
      static_cast<unsigned long long>(region_usage_.bytes), static_cast<unsigned long long>(limit));
}

// This process's own part, and its key unless keys are made for all parts at once.
template <class T>
Status Runtime<T>::commit_part(const Part& part, Key* key) {
  const std::size_t whole = node::round_up(part.bytes, kPartAlignment);
  ARMCI_RETURN_IF_ERROR(check_limit(part.bytes));
  ARMCI_RETURN_IF_ERROR(node::node_memory().commit(part.base, whole));
  if constexpr (RegistersCollectively<T>) return kSuccess;
  return transport_.register_memory(part.base, whole, key);
}

template <class T>
Status Runtime<T>::commit_and_register(Group& group, RegionType* region) {
  struct Entry {
    Key key;
    int code;
  } mine{};
  Part& part = region->parts[static_cast<std::size_t>(group.rank())];
  Status status;
  if (part.bytes > 0) status = commit_part(part, &mine.key);
  mine.code = status.value();
  std::vector<Entry> all(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, mine, all.data()));
  for (int r = 0; r < group.size(); ++r) {
    const Entry& entry = all[static_cast<std::size_t>(r)];
    region->parts[static_cast<std::size_t>(r)].key = entry.key;
    if (entry.code != 0 && status.ok()) {
      if (!RegistersCollectively<T> && part.bytes > 0) transport_.deregister_memory(mine.key);
      status =
          fail(Code::kMemory, "MEM-8", "process %d ran out of shared memory, see its message", group.absolute_id(r));
    }
  }
  if (!status.ok()) await_deregistered(group);
  return status.ok() ? expose(group, region) : status;
}

// Makes the keys where the layer below wants all members at once.
template <class T>
Status Runtime<T>::expose([[maybe_unused]] Group& group, [[maybe_unused]] RegionType* region) {
  if constexpr (RegistersCollectively<T>) {
    std::vector<Exposed> exposed;
    std::vector<Key> keys(region->parts.size());
    for (const Part& part : region->parts) {
      exposed.push_back({part.proc, part.base, node::round_up(part.bytes, kPartAlignment)});
    }
    ARMCI_RETURN_IF_ERROR(transport_.register_region({group.comm(), group.rank()}, exposed, keys));
    for (std::size_t r = 0; r < keys.size(); ++r) region->parts[r].key = keys[r];
  }
  return kSuccess;
}

template <class T>
Status Runtime<T>::allocate_region(Group& group, std::int64_t bytes, RegionType** out) {
  auto region = std::make_unique<RegionType>();
  std::vector<std::int64_t> sizes;
  *out = nullptr;
  ARMCI_RETURN_IF_ERROR(allgather_sizes(group, bytes, &sizes, &region->id));
  region->group = group.serial();
  bool any = false;
  for (int r = 0; r < group.size(); ++r) {
    const auto size = static_cast<std::size_t>(sizes[static_cast<std::size_t>(r)]);
    region->parts.push_back({group.absolute_id(r), nullptr, size, Key{}});
    any = any || size > 0;
  }
  if (!any) return kSuccess;
  bool provided = false;
  if constexpr (ProvidesMemory<T>) provided = transport_.provides_memory();
  ARMCI_RETURN_IF_ERROR(provided ? make_by_transport(group, region.get()) : make_on_nodes(group, sizes, region.get()));
  *out = regions_.insert(std::move(region));
  return kSuccess;
}

template <class T>
Status Runtime<T>::make_on_nodes(Group& group, const std::vector<std::int64_t>& sizes, RegionType* region) {
  Status status;
  const Layout layout = lay_out(group, sizes, &status);
  if (status.ok()) status = take_blocks(group, layout, region);
  if (status.ok()) status = commit_and_register(group, region);
  if (!status.ok() && region->block != nullptr && group.is_master()) {
    node::node_memory().give_back(region->block, region->block_bytes);
  }
  return status;
}

// The transport is called only if every member is within its limit: a refusal on one member would not reach the others.
template <class T>
Status Runtime<T>::make_by_transport([[maybe_unused]] Group& group, [[maybe_unused]] RegionType* region) {
  if constexpr (ProvidesMemory<T>) {
    Status status = check_limit(region->parts[static_cast<std::size_t>(group.rank())].bytes);
    std::vector<int> codes(static_cast<std::size_t>(group.size()));
    ARMCI_RETURN_IF_ERROR(allgather(group, static_cast<int>(status.value()), codes.data()));
    std::vector<Exposed> exposed;
    for (std::size_t r = 0; r < codes.size(); ++r) {
      const Part& part = region->parts[r];
      if (codes[r] != 0 && status.ok()) {
        status = fail(Code::kMemory, "MEM-8", "process %d may not allocate that much, see its message", part.proc);
      }
      if (part.bytes > kLargestBlock && status.ok()) {
        status =
            fail(Code::kMemory, "MEM-8", "argument bytes = %zu of process %d is more than a node can have; pass fewer",
                 part.bytes, part.proc);
      }
      exposed.push_back({part.proc, nullptr, node::round_up(part.bytes, kPartAlignment)});
    }
    ARMCI_RETURN_IF_ERROR(status);
    std::vector<Key> keys(exposed.size());
    ARMCI_RETURN_IF_ERROR(transport_.provide_region({group.comm(), group.rank()}, exposed, keys));
    for (std::size_t r = 0; r < keys.size(); ++r) {
      region->parts[r].base = static_cast<char*>(exposed[r].base);
      region->parts[r].key = keys[r];
    }
  }
  return kSuccess;
}

template <class T>
Status Runtime<T>::allocate(Group& group, std::int64_t bytes, void** ptr) {
  RegionType* region = nullptr;
  ARMCI_RETURN_IF_ERROR(allocate_region(group, bytes, &region));
  for (int r = 0; r < group.size(); ++r) {
    ptr[r] = region == nullptr ? nullptr : region->parts[static_cast<std::size_t>(r)].base;
  }
  if (region != nullptr) {
    std::lock_guard guard(usage_mutex_);
    ++region_usage_.live;
    region_usage_.bytes += static_cast<std::uint64_t>(bytes);
    region_usage_.bytes_max = std::max(region_usage_.bytes_max, region_usage_.bytes);
  }
  if (is_verbose(Verbosity::kObjects) && region != nullptr && group.rank() == 0) {
    log_line("allocated region %lld of %d processes, %lld bytes at %p here", static_cast<long long>(region->id),
             group.size(), static_cast<long long>(bytes), ptr[0]);
  }
  return kSuccess;
}

// All members exchange the id of their region. No member returns before all have called this, so that all operations on
// the region are complete [CMPL-8].
template <class T>
Status Runtime<T>::agree_on_region(Group& group, void* base, std::int64_t* id) {
  constexpr std::int64_t kNone = -1;
  std::int64_t mine = kNone;
  Status status;
  if (base != nullptr) {
    RegionType* region = regions_.find_base(rank_, base);
    if (region == nullptr) {
      status =
          fail(Code::kAddress, "MEM-6",
               "argument ptr = %p is not the base of this process's part of a region; pass what ARMCI_Malloc returned",
               base);
    } else if (region->group != group.serial()) {
      status = fail(Code::kGroup, "MEM-11",
                    "argument ptr = %p belongs to a region of another group; free it with the group that allocated it",
                    base);
    } else {
      mine = region->id;
    }
  }
  struct Vote {
    std::int64_t id;
    std::int64_t failed;
  };
  std::vector<Vote> votes(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, Vote{mine, status.ok() ? 0 : 1}, votes.data()));
  if (!status.ok()) return status;
  // Members with an empty part have no say.
  std::int64_t agreed = kNone;
  for (int r = 0; r < group.size(); ++r) {
    const Vote& vote = votes[static_cast<std::size_t>(r)];
    if (vote.failed != 0) {
      return fail(Code::kAddress, "MEM-6", "process %d passed an address that is no region's base, see its message",
                  group.absolute_id(r));
    }
    if (vote.id == kNone) continue;
    if (agreed != kNone && vote.id != agreed) {
      return fail(Code::kAddress, "MEM-6",
                  "argument ptr: the processes passed addresses of different regions; pass parts of the same one");
    }
    agreed = vote.id;
  }
  RegionType* region = agreed == kNone ? nullptr : regions_.by_id(agreed);
  for (int r = 0; region != nullptr && r < group.size(); ++r) {
    if (votes[static_cast<std::size_t>(r)].id == kNone && region->parts[static_cast<std::size_t>(r)].bytes > 0) {
      return fail(
          Code::kNull, "MEM-6",
          "argument ptr is NULL on process %d, whose part of the region is not empty; pass the base of that part",
          group.absolute_id(r));
    }
  }
  *id = agreed;
  return kSuccess;
}

template <class T>
void Runtime<T>::deregister(const RegionType& region) {
  bool collective = false;
  if constexpr (RegistersCollectively<T>) {
    collective = region.group != RegionType::kAttached;
    if (collective) transport_.deregister_region(region.parts[0].key);
  }
  for (const Part& part : region.parts) {
    if (!collective && part.proc == rank_ && part.bytes > 0) transport_.deregister_memory(part.key);
  }
}

// Where each process deregisters its own part, the master may free the block only after all have done so. Another
// region may use the block at once.
template <class T>
void Runtime<T>::await_deregistered([[maybe_unused]] Group& group) {
  if constexpr (!RegistersCollectively<T> && !kNodeOnly) {
    const node::CollectiveWait waiting;
    MPI_Barrier(group.comm());
  }
}

template <class T>
void Runtime<T>::dispose(std::unique_ptr<RegionType> region, bool give_back) {
  if (region == nullptr) return;
  deregister(*region);
  if (give_back && region->block != nullptr) node::node_memory().give_back(region->block, region->block_bytes);
}

template <class T>
Status Runtime<T>::release(Group& group, void* base) {
  const Status fenced = fence_all();  // also on failure the other processes wait for this one
  std::int64_t id = -1;
  ARMCI_RETURN_IF_ERROR(agree_on_region(group, base, &id));
  if (id < 0) return fenced;
  std::unique_ptr<RegionType> region = regions_.remove(id);
  if (is_verbose(Verbosity::kObjects) && group.rank() == 0) log_line("frees region %lld", static_cast<long long>(id));
  {
    std::lock_guard guard(usage_mutex_);
    --region_usage_.live;
    region_usage_.bytes -= region->parts[static_cast<std::size_t>(group.rank())].bytes;
  }
  deregister(*region);
  await_deregistered(group);
  if (group.is_master() && region->block != nullptr) {
    node::node_memory().give_back(region->block, region->block_bytes);
  }
  return fenced;
}

template <class T>
Status Runtime<T>::set_mode(Group& group, void* base, AccessMode mode) {
  const Status fenced = fence_all();
  std::int64_t id = -1;
  ARMCI_RETURN_IF_ERROR(agree_on_region(group, base, &id));
  std::vector<AccessMode> modes(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, mode, modes.data()));
  for (int r = 1; r < group.size(); ++r) {
    if (const AccessMode other = modes[static_cast<std::size_t>(r)]; other != modes[0]) {
      return fail(Code::kType, "MODE-1",
                  "argument mode = %d on process %d, %d on process %d; pass the same on all processes",
                  static_cast<int>(modes[0]), group.absolute_id(0), static_cast<int>(other), group.absolute_id(r));
    }
  }
  if (RegionType* region = id < 0 ? nullptr : regions_.by_id(id); region != nullptr) {
    region->mode = mode;
    if constexpr (AppliesModes<T>) transport_.set_mode(region->parts[0].key, mode);
  }
  ARMCI_RETURN_IF_ERROR(barrier(group));
  return fenced;
}

template <class T>
void* Runtime<T>::direct_pointer(int proc, const void* address) {
  if (!check_proc(proc).ok() || !same_node(proc)) return nullptr;
  return regions_.find(proc, address, 1) == nullptr ? nullptr : const_cast<void*>(address);
}

template <class T>
void Runtime<T>::note_local([[maybe_unused]] void* base, [[maybe_unused]] std::size_t bytes) {
  if constexpr (RegistersLocal<T>) transport_.register_local(base, bytes);
}

template <class T>
void Runtime<T>::forget_local([[maybe_unused]] void* base) {
  if constexpr (RegistersLocal<T>) transport_.deregister_local(base);
}

}  // namespace armci::runtime
