#include "impl/ucx/exposed_memory.h"

#include "impl/ucx/failure.h"

namespace armci::ucx {

Status ExposedMemory::register_memory(void* base, std::size_t bytes, std::uint32_t* number, std::string* packed_key) {
  ucp_mem_h memory = nullptr;
  ARMCI_RETURN_IF_ERROR(mapped_.map(base, bytes, &memory));
  void* packed = nullptr;
  std::size_t length = 0;
  const ucs_status_t status = ucp_rkey_pack(context_.handle(), memory, &packed, &length);
  if (status != UCS_OK) {
    mapped_.unmap(base);
    return fail_ucs(status, "ucp_rkey_pack");
  }
  packed_key->assign(static_cast<const char*>(packed), length);
  ucp_rkey_buffer_release(packed);
  std::lock_guard lock(mutex_);
  *number = ++last_;
  bases_.emplace(*number, base);
  return kSuccess;
}

void ExposedMemory::deregister(std::uint32_t number) {
  std::lock_guard lock(mutex_);
  const auto found = bases_.find(number);
  if (found == bases_.end()) return;
  mapped_.unmap(found->second);
  bases_.erase(found);
}

}  // namespace armci::ucx
