// Pending operations and their numbers.
//
// ended() accepts a number at any time. An operation whose number is unknown has completed. A failed operation is kept
// until ended() reports it.
//
// Thread safety: none, the client's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace armci::engine {

class Operations {
 public:
  struct Operation {
    std::uint32_t generation = 1;  // counts the operations that had this index
    std::uint32_t parts = 0;       // pending ones
    int error = 0;                 // of the wire: the first failure
    const char* call = nullptr;    // that failed, or may
    int peer = -1;
    std::uint32_t index = 0;
    bool is_blocking = false;  // the call returns at local completion
    Operations* owner = nullptr;
  };

  // An operation with one part that does not count as pending. The owner ends this part after it has issued the others,
  // and may wait in between.
  Operation* begin(const char* call, int peer) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(all_.size()));
      all_.emplace_back();
      all_.back().index = free_.back();
      all_.back().owner = this;
    }
    Operation* const operation = &all_[free_.back()];
    free_.pop_back();
    operation->error = 0;
    operation->call = call;
    operation->peer = peer;
    operation->parts = 1;
    operation->is_blocking = false;
    return operation;
  }

  // An operation with one pending part.
  Operation* begin_part(const char* call, int peer) {
    Operation* const operation = begin(call, peer);
    ++pending_;
    return operation;
  }

  void add_part(Operation* operation) {
    ++operation->parts;
    ++pending_;
  }

  // So many parts that begin() made count as pending from now on: end_part() ends them.
  void add_pending(std::size_t parts) { pending_ += parts; }

  void end_part(Operation* operation, int error) {
    --pending_;
    end_first(operation, error);
  }

  // The part that begin() made.
  void end_first(Operation* operation, int error) {
    if (error != 0 && operation->error == 0) operation->error = error;
    if (--operation->parts == 0 && operation->error == 0) release(operation);
  }

  static std::uint64_t number(const Operation* operation) {
    return std::uint64_t{operation->generation} << 32 | operation->index;
  }

  // Whether it has ended; *failed: the operation if it failed, whose index is free after release().
  bool ended(std::uint64_t number, Operation** failed) {
    *failed = nullptr;
    if (number == 0) return true;
    Operation* const operation = &all_[number & 0xffffffffU];
    if (operation->generation != number >> 32) return true;
    if (operation->parts > 0) return false;
    *failed = operation;
    return true;
  }

  // Of an operation that has not ended.
  int peer_of(std::uint64_t number) const { return all_[number & 0xffffffffU].peer; }

  void release(Operation* operation) {
    if (++operation->generation == 0) ++operation->generation;  // the number 0 is no operation's
    free_.push_back(operation->index);
  }

  // Parts, of all.
  std::size_t pending() const { return pending_; }

 private:
  std::deque<Operation> all_;  // which stay where they are
  std::vector<std::uint32_t> free_;
  std::size_t pending_ = 0;
};

}  // namespace armci::engine
