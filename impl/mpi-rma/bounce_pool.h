// Memory for packed transfers, kept for the next ones.
//
// Thread safety: all members by any thread. A buffer may outlive the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace armci::rma {

class BouncePool {
 public:
  // Its memory returns to the pool with the last copy.
  using Buffer = std::shared_ptr<char>;

  // The most bytes of free blocks that the pool keeps.
  explicit BouncePool(std::size_t kept_max = std::size_t{16} << 20);

  // At least `bytes` bytes, unspecified. nullptr: out of memory.
  Buffer take(std::size_t bytes);

  // Frees the blocks in the pool.
  void clear();

  std::size_t kept_bytes() const;  // for tests of the limit

 private:
  struct Block {
    std::unique_ptr<char[]> memory;
    std::size_t bytes;
  };
  struct Shelf {
    std::mutex mutex;
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    std::size_t bytes_max = 0;
  };
  static Block find(Shelf& shelf, std::size_t bytes);
  static void give_back(Shelf& shelf, Block block);

  std::shared_ptr<Shelf> shelf_;
};

}  // namespace armci::rma
