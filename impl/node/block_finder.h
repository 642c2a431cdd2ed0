// BlockFinder: whether a range of addresses lies in one block of node memory that is taken, for addresses that came
// from elsewhere.
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
  // Remembers the blocks that it found lately.
  //
  // Memory ordering: the generation is raised (release) when a block has been taken out of the list, and what is
  // remembered was read under the list's lock. So a block that was given back before the question is not found, and one
  // that was taken before it is.
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
