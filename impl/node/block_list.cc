#include "impl/node/block_list.h"

#include <algorithm>
#include <cstring>

namespace armci::node {

std::uint32_t BlockList::begun_at(const Block* blocks, std::uint64_t offset) const {
  const auto before = [](std::uint64_t wanted, const Block& block) { return wanted < block.offset; };
  return static_cast<std::uint32_t>(std::upper_bound(blocks, blocks + count_, offset, before) - blocks);
}

void BlockList::insert(Block* blocks, const Block& block) {
  const std::uint32_t index = begun_at(blocks, block.offset);
  std::memmove(blocks + index + 1, blocks + index, (count_ - index) * sizeof(Block));
  blocks[index] = block;
  ++count_;
}

void BlockList::erase(Block* blocks, std::uint64_t offset) {
  const std::uint32_t after = begun_at(blocks, offset);
  if (after == 0 || blocks[after - 1].offset != offset) return;
  std::memmove(blocks + after - 1, blocks + after, (count_ - after) * sizeof(Block));
  --count_;
}

const BlockList::Block* BlockList::find(const Block* blocks, std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint32_t after = begun_at(blocks, offset);
  return after > 0 && blocks[after - 1].holds(offset, bytes) ? blocks + after - 1 : nullptr;
}

}  // namespace armci::node
