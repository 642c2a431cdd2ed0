#include "impl/ucx/exposed_memory.h"

#include "impl/ucx/failure.h"

namespace armci::ucx {

using common::kSuccess;
using common::Status;

ExposedMemory::~ExposedMemory() {
  for (const auto& [number, memory] : memory_) (void)ucp_mem_unmap(context_.handle(), memory);
}

Status ExposedMemory::expose(void* base, std::size_t bytes, std::uint32_t* number, std::string* packed_key) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = base;
  params.length = bytes;
  ucp_mem_h memory = nullptr;
  ARMCI_UCS(ucp_mem_map(context_.handle(), &params, &memory), "ucp_mem_map");
  void* packed = nullptr;
  std::size_t length = 0;
  const ucs_status_t status = ucp_rkey_pack(context_.handle(), memory, &packed, &length);
  if (status != UCS_OK) {
    (void)ucp_mem_unmap(context_.handle(), memory);
    return fail_ucs(status, "ucp_rkey_pack");
  }
  packed_key->assign(static_cast<const char*>(packed), length);
  ucp_rkey_buffer_release(packed);
  std::lock_guard lock(mutex_);
  *number = ++last_;
  memory_.emplace(*number, memory);
  return kSuccess;
}

void ExposedMemory::conceal(std::uint32_t number) {
  std::lock_guard lock(mutex_);
  const auto found = memory_.find(number);
  if (found == memory_.end()) return;
  (void)ucp_mem_unmap(context_.handle(), found->second);
  memory_.erase(found);
}

}  // namespace armci::ucx
