// Small puts of a process to one server, coalesced into one request (Form::kBatch).
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "impl/server/wire.h"

namespace armci::server {

template <class Buffer>  // owns memory, and has get()
class Batch {
 public:
  // Where the request is made; its owner provides it, and takes it once the request is complete.
  Buffer message;
  // For whoever looks at batches: nothing was added since the last look.
  bool looked_at = false;

  bool empty() const { return length_ == 0; }
  // Whether one of that length more would make no request that is longer than `limit`.
  bool has_room(std::size_t bytes, std::size_t limit) const { return length() + BatchEntry::room(bytes) <= limit; }

  void add(std::uint64_t address, const void* local, std::size_t bytes) {
    length_ = length();
    char* const at = message.get() + length_;
    const BatchEntry entry{address, bytes};
    std::memcpy(at, &entry, sizeof entry);
    std::memcpy(at + sizeof entry, local, bytes);
    length_ += BatchEntry::room(bytes);
    ++entries_;
    bytes_ += bytes;
    looked_at = false;
  }

  // Puts the header in front, with what it says of its origin. The length of the request; the batch is empty then.
  std::size_t complete(RequestHeader header) {
    header.kind = RequestKind::kPut;
    header.form = Form::kBatch;
    header.count = std::exchange(entries_, 0);
    header.bytes = std::exchange(bytes_, 0);
    std::memcpy(message.get(), &header, sizeof header);
    return std::exchange(length_, 0);
  }

 private:
  std::size_t length() const { return empty() ? sizeof(RequestHeader) : length_; }

  std::size_t length_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace armci::server
