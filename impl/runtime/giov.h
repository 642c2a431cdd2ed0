// The caller's vector descriptors, in either struct, as one list of Segments.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "impl/base/status.h"
#include "impl/runtime/shapes.h"

namespace armci::runtime {

// Few descriptors, the usual case, need no heap.
class SegmentList {
 public:
  // Checks and converts `length` descriptors. Thread safety: none; a value of one call.
  template <class Giov, class Length>
  Status assign(const Giov* iov, Length length) {
    if constexpr (std::is_signed_v<Length>) {
      if (length < 0)
        return fail(Code::kLength, "ERR-1", "argument len = %lld is negative; pass 0 or more",
                    static_cast<long long>(length));
    }
    size_ = static_cast<std::size_t>(length);
    if (size_ == 0) return kSuccess;
    if (iov == nullptr) return fail(Code::kNull, "ERR-1", "argument iov is NULL; pass an array of descriptors");
    if (size_ > few_.size()) {
      many_.reset(new (std::nothrow) Segments[size_]);
      if (many_ == nullptr)
        return fail(Code::kMemory, nullptr,
                    "argument len = %zu: the process has no memory for so many descriptors; pass fewer in a call",
                    size_);
    }
    Segments* out = many_ != nullptr ? many_.get() : few_.data();
    for (std::size_t i = 0; i < size_; ++i) {
      if constexpr (std::is_signed_v<decltype(iov[i].bytes)>) {
        if (iov[i].bytes < 0 || iov[i].ptr_array_len < 0) {
          return fail(Code::kLength, "ERR-1",
                      "argument iov[%zu] has a negative length: bytes = %lld, ptr_array_len = %lld; pass 0 or more", i,
                      static_cast<long long>(iov[i].bytes), static_cast<long long>(iov[i].ptr_array_len));
        }
      }
      out[i] = {iov[i].src_ptr_array, iov[i].dst_ptr_array, static_cast<std::size_t>(iov[i].bytes),
                static_cast<std::size_t>(iov[i].ptr_array_len)};
    }
    return kSuccess;
  }

  const Segments* data() const { return many_ != nullptr ? many_.get() : few_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::array<Segments, 8> few_;
  std::unique_ptr<Segments[]> many_;
  std::size_t size_ = 0;
};

}  // namespace armci::runtime
