// BlockFinder: checks that a range of addresses from another process lies in one taken block of node memory.
//
// Thread safety: each has one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "impl/node/node_memory.h"

namespace armci::node {

class BlockFinder {
 public:
  // Caches the blocks that it found lately.
  //
  // Memory ordering: the generation is raised (release) when a block has been taken out of the list. Cached blocks were
  // read under the list's lock. So a block that was freed before the call is not found, and a block that was taken
  // before the call is.
  bool holds(const void* address, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    Recent& recent = recent_[((at >> 12) ^ (at >> 21)) % kRecent];
    NodeMemory& memory = node_memory();
    const std::uint64_t now = memory.control().blocks_generation.load(std::memory_order_acquire);
    const std::uint64_t offset = at - reinterpret_cast<std::uintptr_t>(memory.begin());
    if (recent.generation == now && recent.block.holds(offset, bytes)) return true;
    return memory.find_block(address, bytes, &recent.block, &recent.generation);
  }

 private:
  static constexpr std::size_t kRecent = 8;
  struct Recent {
    std::uint64_t generation = 0;
    BlockList::Block block{0, 0};
  };
  std::array<Recent, kRecent> recent_;
};

}  // namespace armci::node
