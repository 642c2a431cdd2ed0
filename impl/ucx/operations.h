// What a process has under way, and what became of it.
//
// An operation of the contract may be several of UCX (a strided put is a request for each piece): it ends with the last
// of its parts. An operation that went well is forgotten when it ends, whoever may still ask about it: a Completion
// need never be tested. One that failed is kept for whoever asks.
//
// Thread safety: none, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace armci::ucx {

// One operation; the default means none, or one that was complete when it was begun.
struct Mark {
  std::uint32_t slot = 0;  // + 1
  std::uint32_t serial = 0;

  bool none() const { return slot == 0; }
};

template <class Failure>
class Operations {
 public:
  // Begins one with one part, so that it cannot end while others are being added.
  Mark begin() {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].parts = 1;
    ++under_way_;
    return {slot + 1, slots_[slot].serial};
  }

  void add_part(const Mark& mark) { ++slots_[mark.slot - 1].parts; }

  // The first failure of its parts counts.
  void end_part(const Mark& mark, bool failed = false, const Failure& failure = {}) {
    Slot& slot = slots_[mark.slot - 1];
    if (failed && !slot.failed) {
      slot.failed = true;
      slot.failure = failure;
    }
    if (--slot.parts > 0) return;
    --under_way_;
    if (!slot.failed) forget(mark.slot - 1);
  }

  bool is_under_way(const Mark& mark) const { return knows(mark) && slots_[mark.slot - 1].parts > 0; }

  // Whether it ended in a failure; asked once.
  bool take_failure(const Mark& mark, Failure* failure) {
    if (!knows(mark) || !slots_[mark.slot - 1].failed || slots_[mark.slot - 1].parts > 0) return false;
    *failure = slots_[mark.slot - 1].failure;
    forget(mark.slot - 1);
    return true;
  }

  std::size_t under_way() const { return under_way_; }

 private:
  struct Slot {
    std::uint32_t serial = 0;
    std::uint32_t parts = 0;
    bool failed = false;
    Failure failure{};
  };

  bool knows(const Mark& mark) const { return !mark.none() && slots_[mark.slot - 1].serial == mark.serial; }

  void forget(std::uint32_t slot) {
    slots_[slot].failed = false;
    ++slots_[slot].serial;
    free_.push_back(slot);
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t under_way_ = 0;
};

}  // namespace armci::ucx
