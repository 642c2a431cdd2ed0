// BlockList: the taken blocks of node memory, for checks of addresses from other processes. One per
// machine, its state in node memory, used by all its processes.
//
// Invariants: blocks are disjoint, not empty, and sorted by offset.
//
// Thread safety: none; the caller holds the lock of the list.
#pragma once

#include <cstdint>

namespace armci::node {

class BlockList {
 public:
  struct Block {
    std::uint64_t offset;
    std::uint64_t bytes;

    bool holds(std::uint64_t at, std::uint64_t length) const {
      return at >= offset && length <= bytes && at - offset <= bytes - length;
    }
  };

  // `blocks`, here and below, holds at least count() entries, and one more for insert().
  void initialise() { count_ = 0; }
  void insert(Block* blocks, const Block& block);
  // Removes the block that begins at the offset, if there is one.
  void erase(Block* blocks, std::uint64_t offset);
  // The block that holds all of [offset, offset + bytes), or nullptr.
  const Block* find(const Block* blocks, std::uint64_t offset, std::uint64_t bytes) const;

  std::uint32_t count() const { return count_; }

 private:
  // The number of blocks that begin at `offset` or before.
  std::uint32_t begun_at(const Block* blocks, std::uint64_t offset) const;

  std::uint32_t count_;
};

}  // namespace armci::node
