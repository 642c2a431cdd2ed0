// Buffers of messages, used again: a heap would return them to the kernel after every burst, and take them, page by
// page, for the next one.
//
// Thread safety: none; the client's are used with its lock, the server's by its thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "impl/ucx/messages.h"

namespace armci::ucx {

class MessageBuffers {
 public:
  // From the heap: it keeps such small ones itself.
  static constexpr std::size_t kShortBytes = 512;
  // A message of up to so many bytes does not take the room of the longest one; most batches are as long.
  static constexpr std::size_t kMediumBytes = 8192;
  // That nobody uses, of each of the two lengths; one buffer at least.
  static constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

  // longest_bytes: of a message; longer ones are not kept.
  explicit MessageBuffers(std::size_t longest_bytes) : kinds_{{kMediumBytes, {}}, {longest_bytes, {}}} {}

  // Not initialised.
  Message take(std::size_t bytes) {
    Kind* const kind = kind_for(bytes);
    const std::size_t room = room_for(bytes);
    if (kind == nullptr || kind->free.empty()) return {std::unique_ptr<char[]>(new char[room]), bytes, room};
    Message message{std::move(kind->free.back()), bytes, room};
    kind->free.pop_back();
    return message;
  }

  // What was made in the buffer of take(taken).
  Message made(std::unique_ptr<char[]> buffer, std::size_t length, std::size_t taken) {
    return {std::move(buffer), length, room_for(taken)};
  }

  void give_back(Message message) {
    Kind* const kind = kind_for(message.room);
    if (message.bytes == nullptr || kind == nullptr || kind->bytes != message.room) return;
    if ((kind->free.size() + 1) * kind->bytes <= kKeptBytes || kind->free.empty()) {
      kind->free.push_back(std::move(message.bytes));
    }
  }

  // Buffers that nobody uses.
  std::size_t kept() const { return kinds_[0].free.size() + kinds_[1].free.size(); }

 private:
  struct Kind {
    std::size_t bytes;
    std::vector<std::unique_ptr<char[]>> free;
  };

  Kind* kind_for(std::size_t bytes) {
    if (bytes <= kShortBytes) return nullptr;
    for (Kind& kind : kinds_) {
      if (bytes <= kind.bytes) return &kind;
    }
    return nullptr;
  }

  std::size_t room_for(std::size_t bytes) {
    const Kind* const kind = kind_for(bytes);
    return kind == nullptr ? bytes : kind->bytes;
  }

  Kind kinds_[2];  // the shorter one first
};

}  // namespace armci::ucx
