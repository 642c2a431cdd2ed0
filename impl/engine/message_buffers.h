// Buffers of messages, used again. A heap would return them to the kernel after every burst, and take them page by page
// for the next one.
//
// Thread safety: none, but for bytes(); the client's are used, and freed, with its lock, the server's by its thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace armci::engine {

// Memory of a wire's own, which lends buffers and takes them back.
class Lender {
 public:
  virtual void take_back(char* buffer) = 0;

 protected:
  ~Lender() = default;
};

// Gives a buffer back to its lender, or frees it and takes it out of the sum if it is in one.
struct CountedDelete {
  std::atomic<std::size_t>* sum = nullptr;
  std::size_t capacity = 0;
  Lender* lender = nullptr;

  void operator()(char* buffer) const {
    if (lender != nullptr) return lender->take_back(buffer);
    if (sum != nullptr) sum->store(sum->load(std::memory_order_relaxed) - capacity, std::memory_order_relaxed);
    delete[] buffer;
  }
};

using Buffer = std::unique_ptr<char[], CountedDelete>;

// A message, or what a wire leaves of it.
struct Message {
  Buffer bytes;
  std::size_t length = 0;

  std::size_t capacity() const { return bytes.get_deleter().capacity; }
};

// A MessageBuffers outlives its buffers.
class MessageBuffers {
 public:
  // From the heap: it keeps such small ones itself.
  static constexpr std::size_t kShortBytes = 512;
  // Messages up to this length get a buffer of this length. Most batches are shorter.
  static constexpr std::size_t kMediumBytes = 8192;
  // Unused buffers to keep, of each of the two lengths; at least one.
  static constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

  // longest_bytes: of a message; longer ones are not kept.
  explicit MessageBuffers(std::size_t longest_bytes) : kinds_{{kMediumBytes, {}}, {longest_bytes, {}}} {}

  // Not initialised.
  Message take(std::size_t bytes) {
    Kind* const kind = kind_for(bytes);
    if (kind == nullptr || kind->free.empty()) return {made(kind == nullptr ? bytes : kind->bytes), bytes};
    Message message{std::move(kind->free.back()), bytes};
    kind->free.pop_back();
    return message;
  }

  void give_back(Message message) {
    Kind* const kind = kind_for(message.capacity());
    if (message.bytes == nullptr || kind == nullptr || kind->bytes != message.capacity()) return;
    if ((kind->free.size() + 1) * kind->bytes <= kKeptBytes || kind->free.empty()) {
      kind->free.push_back(std::move(message.bytes));
    }
  }

  // Of the buffers that are taken or kept.
  std::size_t bytes() const { return sum_.load(std::memory_order_relaxed); }
  // Unused buffers.
  std::size_t kept() const { return kinds_[0].free.size() + kinds_[1].free.size(); }

 private:
  struct Kind {
    std::size_t bytes;
    std::vector<Buffer> free;
  };

  Buffer made(std::size_t capacity) {
    Buffer buffer(new char[capacity], CountedDelete{&sum_, capacity});
    sum_.store(bytes() + capacity, std::memory_order_relaxed);
    return buffer;
  }

  Kind* kind_for(std::size_t bytes) {
    if (bytes <= kShortBytes) return nullptr;
    for (Kind& kind : kinds_) {
      if (bytes <= kind.bytes) return &kind;
    }
    return nullptr;
  }

  std::atomic<std::size_t> sum_{0};  // the first one: buffers take themselves out of it
  Kind kinds_[2];                    // the shorter one first
};

}  // namespace armci::engine
