// Registered memory of the library's own, for messages and for data that are copied.
//
// Thread safety: made by one thread; the rest may be called by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/base/status.h"
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

}  // namespace armci::verbs
