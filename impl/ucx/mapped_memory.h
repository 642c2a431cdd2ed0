// The memory of this process that UCX has been reported of: what others may reach, and where local buffers lie.
//
// A transfer from or to it names its handle, and UCX does not look for a registration then.
//
// Thread safety: all members by any thread.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "impl/base/status.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

class MappedMemory {
 public:
  explicit MappedMemory(const Context& context) : context_(context) {}
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // Until unmap(). No two pieces overlap.
  Status map(void* base, std::size_t bytes, ucp_mem_h* memory);
  // With nothing under way that uses it; does nothing where there is none.
  void unmap(const void* base);
  // Of the piece in which all these bytes lie; nullptr: there is none.
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
