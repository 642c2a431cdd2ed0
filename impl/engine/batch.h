// Requests of a process to one server, coalesced into one (RequestKind::kBatch): puts, accumulates, gets and signals of
// any form, and atomics.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "impl/engine/request.h"

namespace armci::engine {

template <class Buffer>  // owns memory, and has get()
class Batch {
 public:
  // The memory in which the batch builds the request. The owner provides the memory and takes it back with complete().
  Buffer message;
  // Set by the progress pass; false once an entry was added after that pass.
  bool is_unchanged = false;

  bool empty() const { return length_ == 0; }
  // Whether the request stays within `limit` bytes with one more entry. `bytes`: of its segments and data.
  bool fits(const RequestHeader& header, std::size_t bytes, std::size_t limit) const {
    return length() + entry_bytes(header, bytes) <= limit;
  }
  // Data of the reply to the gets and atomics so far.
  std::size_t reply_bytes() const { return reply_bytes_; }

  // Adds a request. `write(at)` writes its segments and data, `bytes` of them.
  template <class Write>
  void add(const RequestHeader& header, std::size_t bytes, Write write) {
    length_ = length();
    char* const at = message.get() + length_;
    write(write_fields(header, at));
    length_ += entry_bytes(header, bytes);
    ++entries_;
    reply_bytes_ += header.reply_bytes();
    is_unchanged = false;
  }

  // Completes the header, which has the other fields of a batch, and writes it in front of the entries. Returns the
  // length of the request. The batch is empty afterwards.
  std::size_t complete(RequestHeader header) {
    header.kind = RequestKind::kBatch;
    header.count = std::exchange(entries_, 0);
    header.bytes = std::exchange(reply_bytes_, 0);
    std::memcpy(message.get(), &header, sizeof header);
    return std::exchange(length_, 0);
  }

 private:
  std::size_t length() const { return empty() ? sizeof(RequestHeader) : length_; }
  static std::size_t entry_bytes(const RequestHeader& header, std::size_t bytes) {
    return entry_fields_bytes(header) + padded(bytes);
  }

  // Returns the place for what follows.
  static char* write_fields(const RequestHeader& header, char* at) {
    const EntryHeader entry{
        header.address, static_cast<std::uint32_t>(header.bytes), header.kind, header.form, header.type, header.levels};
    const auto put = [&at](const auto& field) {
      std::memcpy(at, &field, sizeof field);
      at += sizeof field;
    };
    put(entry);
    if (has_count(header)) {
      put(header.count);
      put(header.first);
    }
    if (header.kind == RequestKind::kSignal) put(header.first);
    if (has_operand(header)) put(header.operand);
    return at;
  }

  std::size_t length_ = 0;
  std::size_t reply_bytes_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace armci::engine
