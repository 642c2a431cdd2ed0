// The memory of this process that is mapped with UCX: memory for other processes, and local buffers.
//
// A transfer passes the handle of its memory, so that UCX does not search for a registration.
//
// Thread safety: all members by any thread.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "impl/base/status.h"
#include "impl/ucx/context.h"

namespace armci::ucx {

class MappedMemory {
 public:
  explicit MappedMemory(const Context& context) : context_(context) {}
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // Until unmap(). No two pieces overlap.
  Status map(void* base, std::size_t bytes, ucp_mem_h* memory);
  // Precondition: no pending operation uses the memory. Does nothing if it is not mapped.
  void unmap(const void* base);
  // The handle of the piece that contains all these bytes; nullptr: none.
  ucp_mem_h holding(const void* address, std::size_t bytes) const;

 private:
  struct Piece {
    std::size_t bytes;
    ucp_mem_h memory;
  };

  const Context& context_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Piece> pieces_;  // by address
};

}  // namespace armci::ucx
