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
  // The memory in which the batch builds the request. The owner provides the memory and takes it back with complete().
  Buffer message;
  // Set by the progress pass; false once a put was added after that pass.
  bool is_unchanged = false;

  bool empty() const { return length_ == 0; }
  // Whether the request stays within `limit` bytes with one more put of this length.
  bool fits(std::size_t bytes, std::size_t limit) const { return length() + BatchEntry::padded(bytes) <= limit; }

  void add(std::uint64_t address, const void* local, std::size_t bytes) {
    length_ = length();
    char* const at = message.get() + length_;
    const BatchEntry entry{address, bytes};
    std::memcpy(at, &entry, sizeof entry);
    std::memcpy(at + sizeof entry, local, bytes);
    length_ += BatchEntry::padded(bytes);
    ++entries_;
    bytes_ += bytes;
    is_unchanged = false;
  }

  // Writes the header, of a put or a signal, in front and returns the length of the request. The batch is empty
  // afterwards.
  std::size_t complete(RequestHeader header) {
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
