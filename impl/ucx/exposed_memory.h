// The memory of this process that other processes may access, and its keys.
//
// Thread safety: all members by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "impl/base/status.h"
#include "impl/ucx/context.h"
#include "impl/ucx/mapped_memory.h"

namespace armci::ucx {

class ExposedMemory {
 public:
  ExposedMemory(const Context& context, MappedMemory* mapped) : context_(context), mapped_(*mapped) {}

  // *number: never used again; *packed_key: as UCX packs it.
  Status register_memory(void* base, std::size_t bytes, std::uint32_t* number, std::string* packed_key);
  void deregister(std::uint32_t number);

 private:
  const Context& context_;
  MappedMemory& mapped_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, const void*> bases_;  // by number
  std::uint32_t last_ = 0;
};

}  // namespace armci::ucx
