// Runtime<T>: memory that one process allocates alone and others attach (ARMCI_Memget and its family). Included by
// runtime.h. Not collective: the program sends the description by its own means.
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

// The content of armci_meminfo_t::idlist.
template <class Key>
struct MemoryTicket {
  std::int64_t id;
  Key key;
};

template <class T>
Status Runtime<T>::memget(std::size_t bytes, armci_meminfo_t* info) {
  static_assert(sizeof(MemoryTicket<Key>) <= sizeof info->idlist);
  if (bytes > kLargestBlock) {
    return fail(Code::kMemory, "MEM-8", "argument bytes = %zu is more than a node can have; pass fewer", bytes);
  }
  auto region = std::make_unique<RegionType>();
  region->id = (static_cast<std::int64_t>(rank_) << 40) | ++next_region_;
  region->group = -1;
  region->block_bytes = node::round_up(bytes, kPartAlignment);
  ARMCI_RETURN_IF_ERROR(node::node_memory().take(region->block_bytes, &region->block));
  MemoryTicket<Key> ticket{region->id, Key{}};
  Status status = node::node_memory().commit(region->block, region->block_bytes);
  if (status.ok()) status = transport_.register_memory(region->block, region->block_bytes, &ticket.key);
  if (!status.ok()) {
    node::node_memory().give_back(region->block, region->block_bytes);
    return status;
  }
  char* base = static_cast<char*>(region->block);
  region->parts.push_back({rank_, base, bytes, ticket.key});
  *info = armci_meminfo_t{base, base, bytes, rank_, {}};
  std::memcpy(info->idlist, &ticket, sizeof ticket);
  regions_.insert(std::move(region));
  return kSuccess;
}

template <class T>
Status Runtime<T>::memattach(const armci_meminfo_t& info, void** address) {
  MemoryTicket<Key> ticket;
  std::memcpy(&ticket, info.idlist, sizeof ticket);
  ARMCI_RETURN_IF_ERROR(check_proc(info.cpid));
  *address = info.armci_addr;
  if (regions_.by_id(ticket.id) != nullptr) return kSuccess;  // spares the usual call the work below
  if (info.armci_addr == nullptr || info.size == 0) {
    return fail(Code::kArgument, "ERR-1", "argument info describes no memory; fill it with ARMCI_Memget");
  }
  auto region = std::make_unique<RegionType>();
  region->id = ticket.id;
  region->group = RegionType::kAttached;
  region->parts.push_back({info.cpid, info.armci_addr, info.size, ticket.key});
  regions_.insert(std::move(region));
  return kSuccess;
}

template <class T>
Status Runtime<T>::memdetach(const armci_meminfo_t& info) {
  MemoryTicket<Key> ticket;
  std::memcpy(&ticket, info.idlist, sizeof ticket);
  ARMCI_RETURN_IF_ERROR(fence_all());
  regions_.remove(ticket.id);  // nothing to drop where it was never attached
  return kSuccess;
}

template <class T>
Status Runtime<T>::memdelete(const armci_meminfo_t& info) {
  MemoryTicket<Key> ticket;
  std::memcpy(&ticket, info.idlist, sizeof ticket);
  ARMCI_RETURN_IF_ERROR(fence_all());
  const bool mine = info.cpid == rank_;
  std::unique_ptr<RegionType> region = mine ? regions_.remove(ticket.id) : nullptr;
  if (region == nullptr) {
    return fail(Code::kAddress, "ERR-1",
                "argument info describes no live memory of this process; pass what ARMCI_Memget filled in, once");
  }
  dispose(std::move(region), true);
  return kSuccess;
}

}  // namespace armci::runtime
