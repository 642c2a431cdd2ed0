// HandleTable: the pending operations, and the handle of the program that each belongs to.
//
// The program's armci_hdl_t holds a slot number and a serial, never a pointer. A fence, a WaitAll or another copy may
// have completed a handle: it is recognised as complete, also when its slot has been used again [CMPL-5]. Slot 0
// collects implicit operations.
//
//   opaque[0]  slot number, 0: no pending operation
//   opaque[1]  bit 0: aggregate; bits 1..31: the slot's serial
//
// Thread safety: all members may be called by several threads; complete() and complete_if() lock the table while they
// test.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "armci_types.h"
#include "impl/base/status.h"

namespace armci::runtime {

static_assert(sizeof(armci_hdl_t) <= 8, "programs were compiled with handles of at most 8 bytes");

struct HandleBits {
  std::uint32_t slot;
  std::uint32_t aggregate : 1;
  std::uint32_t serial : 31;
};
static_assert(sizeof(HandleBits) == sizeof(armci_hdl_t));

inline HandleBits read_handle(const armci_hdl_t* handle) {
  HandleBits bits;
  std::memcpy(&bits, handle, sizeof bits);
  return bits;
}
inline void write_handle(armci_hdl_t* handle, const HandleBits& bits) { std::memcpy(handle, &bits, sizeof bits); }

template <class Completion>
class HandleTable {
 public:
  struct Pending {
    Completion completion;
    int target;
    std::uint64_t number = 0;  // in the order of add()
  };

  // Adds a pending operation to a handle (nullptr: implicit), giving it a slot when it has none. Operations that the
  // transport coalesced have one completion, and are one here.
  void add(armci_hdl_t* handle, Pending pending) {
    std::lock_guard lock(mutex_);
    std::deque<Pending>& operations = slots_[slot_of(handle)].pending;
    if constexpr (requires { pending.completion.aggregate; }) {
      if (pending.completion.aggregate && !operations.empty() && operations.back().target == pending.target &&
          operations.back().completion == pending.completion)
        return;
    }
    pending.number = ++last_;
    operations.push_back(std::move(pending));
    ++total_;
  }

  // Gives the handle a slot, which stays its own until let_go() even while no operation is pending.
  HandleBits hold(armci_hdl_t* handle) {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[slot_of(handle)];
    total_ += slot.held == 0 ? 1 : 0;
    ++slot.held;
    return read_handle(handle);
  }

  void let_go(const HandleBits& held) {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[held.slot];
    if (--slot.held != 0) return;
    if (slot.pending.empty()) release(held.slot);
    --total_;
  }

  // The number of the operation added last. A wait for all present operations must not wait for later ones.
  std::uint64_t last() const {
    std::lock_guard lock(mutex_);
    return last_;
  }

  // The number of pending operations, plus one for each held slot. Takes no lock: the watchdog calls this while other
  // threads may hang. A thread that reads 0 sees the data of all operations that were completed before.
  std::size_t total() const { return total_.load(std::memory_order_acquire); }

  // Calls visit(target, operations) for runs of pending operations to one target. False, without a visit, while another
  // thread has the table: reports, also those of signal handlers, must not wait.
  template <class Visit>
  bool try_visit(Visit visit) const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    int target = -1;
    std::size_t operations = 0;
    for (const Slot& slot : slots_) {
      for (const Pending& one : slot.pending) {
        if (one.target != target && operations > 0) visit(target, std::exchange(operations, 0));
        target = one.target;
        ++operations;
      }
    }
    if (operations > 0) visit(target, operations);
    return true;
  }

  // The completions of the pending operations of one handle.
  std::vector<Completion> pending_of(const armci_hdl_t* handle) const {
    const std::lock_guard lock(mutex_);
    const HandleBits bits = handle != nullptr ? read_handle(handle) : HandleBits{};
    std::vector<Completion> found;
    if (handle != nullptr && !live(bits)) return found;
    for (const Pending& one : slots_[bits.slot].pending) found.push_back(one.completion);
    return found;
  }

  // Those of every pending operation that satisfies `wanted(const Pending&)`.
  template <class Wanted>
  std::vector<Completion> pending_if(Wanted wanted) const {
    const std::lock_guard lock(mutex_);
    std::vector<Completion> found;
    for (const Slot& slot : slots_) {
      for (const Pending& one : slot.pending) {
        if (wanted(one)) found.push_back(one.completion);
      }
    }
    return found;
  }

  // Completes the operations of one handle that have ended. `finish(Completion&)` returns false while its operation is
  // pending, and must not block: the table is locked. Returns true when no operation is left.
  template <class Finish>
  bool complete(armci_hdl_t* handle, Finish finish) {
    if (total() == 0) return true;
    std::lock_guard lock(mutex_);
    HandleBits bits{};
    if (handle != nullptr) {
      bits = read_handle(handle);
      if (!live(bits)) return true;
    }
    const auto every = [](const Pending&) { return true; };
    if (!complete_slot(bits.slot, every, finish)) return false;
    if (handle != nullptr) write_handle(handle, HandleBits{0, bits.aggregate, 0});
    return true;
  }

  // As complete(), for every operation of any handle that satisfies `wanted(const Pending&)`.
  template <class Wanted, class Finish>
  bool complete_if(Wanted wanted, Finish finish) {
    std::lock_guard lock(mutex_);
    bool all = true;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      all = complete_slot(static_cast<std::uint32_t>(slot), wanted, finish) && all;
    }
    return all;
  }

  void clear() {
    std::lock_guard lock(mutex_);
    slots_.clear();
    slots_.resize(1);
    free_.clear();
    total_ = 0;
  }

 private:
  // A slot is in use exactly while operations are pending or the slot is held; slot 0 always.
  struct Slot {
    std::deque<Pending> pending;
    std::uint32_t serial = 1;
    std::uint32_t held = 0;
  };

  bool live(const HandleBits& bits) const {
    return bits.slot != 0 && bits.slot < slots_.size() && slots_[bits.slot].serial == bits.serial;
  }

  std::size_t slot_of(armci_hdl_t* handle) {
    if (handle == nullptr) return 0;
    HandleBits bits = read_handle(handle);
    if (live(bits)) return bits.slot;
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    write_handle(handle, HandleBits{slot, bits.aggregate, slots_[slot].serial & 0x7fffffffu});
    return slot;
  }

  void release(std::uint32_t slot) {
    slots_[slot].serial = (slots_[slot].serial + 1) & 0x7fffffffu;
    free_.push_back(slot);
  }

  // Releases the slot when no operation is left: the program may never wait for the handle.
  template <class Wanted, class Finish>
  bool complete_slot(std::uint32_t index, Wanted wanted, Finish finish) {
    std::deque<Pending>& pending = slots_[index].pending;
    if (pending.empty()) return true;
    bool all = true;
    const auto gone = std::remove_if(pending.begin(), pending.end(), [&](Pending& one) {
      if (!wanted(one)) return false;
      const bool finished = finish(one.completion);
      all = all && finished;
      return finished;
    });
    const auto ended = static_cast<std::size_t>(pending.end() - gone);
    pending.erase(gone, pending.end());
    total_ -= ended;  // last: a reader of 0 takes no lock
    if (pending.empty() && index != 0 && slots_[index].held == 0) release(index);
    return all;
  }

  mutable std::mutex mutex_;
  std::deque<Slot> slots_{1};
  std::vector<std::uint32_t> free_;
  std::atomic<std::size_t> total_{0};
  std::uint64_t last_ = 0;
};

}  // namespace armci::runtime
