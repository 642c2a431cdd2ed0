#include "impl/mpi-rma/bounce_pool.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace armci::rma {
namespace {

constexpr std::size_t kSmallestBytes = 4096;
// A block that is larger than this many times the request stays for larger requests.
constexpr std::size_t kWasteMax = 4;

}  // namespace

BouncePool::BouncePool(std::size_t kept_max) : shelf_(std::make_shared<Shelf>()) { shelf_->bytes_max = kept_max; }

BouncePool::Buffer BouncePool::take(std::size_t bytes) {
  Block block = find(*shelf_, bytes);
  if (block.memory == nullptr) {
    block.bytes = std::bit_ceil(std::max(bytes, kSmallestBytes));
    block.memory.reset(new (std::nothrow) char[block.bytes]);
    if (block.memory == nullptr) return nullptr;
  }
  char* const memory = block.memory.release();
  return Buffer(memory, [shelf = shelf_, size = block.bytes](char* mine) {
    give_back(*shelf, {std::unique_ptr<char[]>(mine), size});
  });
}

BouncePool::Block BouncePool::find(Shelf& shelf, std::size_t bytes) {
  const std::lock_guard lock(shelf.mutex);
  const std::size_t wanted = std::max(bytes, kSmallestBytes);
  const auto fits = [&](const Block& block) { return block.bytes >= wanted && block.bytes / kWasteMax <= wanted; };
  const auto found = std::find_if(shelf.blocks.begin(), shelf.blocks.end(), fits);
  if (found == shelf.blocks.end()) return {};
  Block block = std::move(*found);
  shelf.blocks.erase(found);
  shelf.bytes -= block.bytes;
  return block;
}

void BouncePool::give_back(Shelf& shelf, Block block) {
  const std::lock_guard lock(shelf.mutex);
  if (shelf.bytes + block.bytes > shelf.bytes_max) return;
  shelf.bytes += block.bytes;
  shelf.blocks.push_back(std::move(block));
}

void BouncePool::clear() {
  const std::lock_guard lock(shelf_->mutex);
  shelf_->blocks.clear();
  shelf_->bytes = 0;
}

std::size_t BouncePool::kept_bytes() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->bytes;
}

}  // namespace armci::rma
