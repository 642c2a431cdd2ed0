// Registered memory of the library's own, for messages and for data that are copied.
//
// Thread safety: made by one thread; the rest may be called by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/message_buffers.h"
#include "impl/native-verbs/device.h"

namespace armci::verbs {

class Buffers {
 public:
  // `count` of `bytes` each.
  Status make(const Device& device, std::size_t count, std::size_t bytes);

  char* at(std::size_t index) const { return memory_.get() + index * bytes_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t total_bytes() const { return count_ * bytes_; }
  // The first `length` bytes of one.
  ibv_sge piece(std::size_t index, std::size_t length) const {
    return {reinterpret_cast<std::uintptr_t>(at(index)), static_cast<std::uint32_t>(length), region_->lkey};
  }

 private:
  std::unique_ptr<char[]> memory_;
  Owned<ibv_mr> region_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

// Such buffers, lent one at a time. Outlives what it lends.
class BufferPool final : public engine::Lender {
 public:
  Status make(const Device& device, std::size_t count, std::size_t bytes);

  std::size_t free() const { return free_.size(); }
  std::size_t bytes() const { return buffers_.bytes(); }
  std::size_t total_bytes() const { return buffers_.total_bytes(); }
  // Precondition: one is free.
  engine::Buffer take() {
    engine::Buffer buffer(free_.back(), engine::CountedDelete{nullptr, 0, this});
    free_.pop_back();
    return buffer;
  }
  void take_back(char* buffer) override { free_.push_back(buffer); }
  bool lends(const engine::Buffer& buffer) const { return buffer.get_deleter().lender == this; }
  // The first `length` bytes of a lent one.
  ibv_sge piece(const engine::Buffer& buffer, std::size_t length) const {
    ibv_sge piece = buffers_.piece(0, length);
    piece.addr = reinterpret_cast<std::uintptr_t>(buffer.get());
    return piece;
  }

 private:
  Buffers buffers_;
  std::vector<char*> free_;
};

}  // namespace armci::verbs
