#include "impl/ucx/mapped_memory.h"

#include <iterator>

#include "impl/ucx/failure.h"

namespace armci::ucx {

MappedMemory::~MappedMemory() {
  for (const auto& [base, piece] : pieces_) (void)ucp_mem_unmap(context_.handle(), piece.memory);
}

Status MappedMemory::map(void* base, std::size_t bytes, ucp_mem_h* memory) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = base;
  params.length = bytes;
  ARMCI_UCS(ucp_mem_map(context_.handle(), &params, memory), "ucp_mem_map");
  std::lock_guard lock(mutex_);
  if (pieces_.emplace(reinterpret_cast<std::uintptr_t>(base), Piece{bytes, *memory}).second) return kSuccess;
  (void)ucp_mem_unmap(context_.handle(), *memory);
  return fail(Code::kLayerBelow, nullptr, "memory at %p is mapped already; free the region that has this memory first",
              base);
}

void MappedMemory::unmap(const void* base) {
  std::lock_guard lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == pieces_.end()) return;
  (void)ucp_mem_unmap(context_.handle(), found->second.memory);
  pieces_.erase(found);
}

ucp_mem_h MappedMemory::holding(const void* address, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::lock_guard lock(mutex_);
  const auto after = pieces_.upper_bound(at);
  if (after == pieces_.begin()) return nullptr;
  const auto& [base, piece] = *std::prev(after);
  const std::size_t offset = at - base;
  return offset < piece.bytes && bytes <= piece.bytes - offset ? piece.memory : nullptr;
}

}  // namespace armci::ucx
