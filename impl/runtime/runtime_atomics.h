// Runtime<T>: read-modify-write and notification. Included by runtime.h.
#pragma once

#include <optional>
#include <type_traits>

#include "impl/runtime/runtime.h"

namespace armci::runtime {

// The memory of the runtime itself in every process: the lock of accumulates that go through the transport, and
// one notification cell per peer, which only that peer writes.
template <class T>
struct Runtime<T>::Service {
  alignas(64) std::atomic<std::int64_t> accumulate_lock;
  alignas(64) NotifyCell cells[];
};

// The operation of a transport that does the same at once.
inline std::optional<AtomicOp> single_op(node::RmwOp op) {
  switch (op) {
    case node::RmwOp::kAdd:
      return AtomicOp::kFetchAdd;
    case node::RmwOp::kSwap:
      return AtomicOp::kSwap;
    case node::RmwOp::kCompareSwap:
      return AtomicOp::kCompareSwap;
    default:
      return std::nullopt;
  }
}

// The CPU operation for it.
constexpr node::RmwOp node_op(AtomicOp op) {
  switch (op) {
    case AtomicOp::kFetchAdd:
      return node::RmwOp::kAdd;
    case AtomicOp::kSwap:
      return node::RmwOp::kSwap;
    case AtomicOp::kCompareSwap:
      break;
  }
  return node::RmwOp::kCompareSwap;
}

template <class T>
template <std::integral Value>
[[gnu::always_inline]] inline Status Runtime<T>::rmw(node::RmwOp op, void* remote, Value operand, Value compare,
                                                     Value* before, int proc) {
  // A locked instruction waits for every older store, so the usual way makes no calls and saves no registers.
  const bool aligned = reinterpret_cast<std::uintptr_t>(remote) % sizeof(Value) == 0;
  if (aligned && observe_flags == 0 && regions_.find_recent(proc, remote, sizeof(Value)) != nullptr &&
      cpu_atomics(proc)) [[likely]] {
    *before = node::rmw<Value>(op, remote, operand, compare);
    return kSuccess;
  }
  return checked_rmw(op, remote, operand, compare, before, proc);
}

template <class T>
template <std::integral Value>
[[gnu::noinline]] Status Runtime<T>::checked_rmw(node::RmwOp op, void* remote, Value operand, Value compare,
                                                 Value* before, int proc) {
  const Part* part = nullptr;
  ARMCI_RETURN_IF_ERROR(check_rmw(remote, sizeof(Value), proc, &part));
  if (cpu_atomics(proc)) {
    *before = node::rmw<Value>(op, remote, operand, compare);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) return remote_rmw(*part, op, remote, operand, compare, before, proc);
  return kSuccess;
}

template <class T>
Status Runtime<T>::check_rmw(const void* remote, std::size_t bytes, int proc, const Part** part) {
  ARMCI_RETURN_IF_ERROR(check_remote("prem", remote, bytes, proc));
  if (reinterpret_cast<std::uintptr_t>(remote) % bytes != 0) {
    return fail(Code::kAlignment, "ERR-1", "argument prem = %p is not aligned to %zu bytes; pass an aligned address",
                remote, bytes);
  }
  *part = regions_.find(proc, remote, bytes);
  return observe_flags != 0 ? observe<Kind::kPut>(*(*part)->region, bytes, proc) : kSuccess;
}

// One operation of the transport where it has that. Otherwise a compare-and-swap replaces the word around the element,
// and is repeated until no other process has changed the word meanwhile. An element of 4 bytes has always the one or
// always the other word.
template <class T>
template <std::integral Value>
Status Runtime<T>::remote_rmw(const Part& part, node::RmwOp op, void* remote, Value operand, Value compare,
                              Value* before, int proc) {
  using Word = std::conditional_t<HasAtomic32<T> && sizeof(Value) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
  ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  const std::optional<AtomicOp> single = single_op(op);
  if (sizeof(Word) != sizeof(Value) || !single.has_value()) {
    return rmw_in_word<Word>(part, op, remote, operand, compare, before, proc);
  }
  Word was = 0;
  ARMCI_RETURN_IF_ERROR(
      atomic(proc, part, remote, *single, static_cast<Word>(operand), static_cast<Word>(compare), &was));
  *before = static_cast<Value>(was);
  return kSuccess;
}

template <class T>
template <class Word, std::integral Value>
Status Runtime<T>::rmw_in_word(const Part& part, node::RmwOp op, void* remote, Value operand, Value compare,
                               Value* before, int proc) {
  const auto address = reinterpret_cast<std::uintptr_t>(remote);
  void* word = reinterpret_cast<void*>(address / sizeof(Word) * sizeof(Word));
  const std::size_t shift = address % sizeof(Word);
  Word seen = 0;
  ARMCI_RETURN_IF_ERROR(read_word(proc, part, word, &seen));
  for (;;) {
    Word wanted = seen;
    Value old;
    std::memcpy(&old, reinterpret_cast<const char*>(&seen) + shift, sizeof old);
    const Value fresh = node::rmw_result(op, old, operand, compare);
    std::memcpy(reinterpret_cast<char*>(&wanted) + shift, &fresh, sizeof fresh);
    Word was = 0;
    ARMCI_RETURN_IF_ERROR(atomic(proc, part, word, AtomicOp::kCompareSwap, wanted, seen, &was));
    if (was == seen) {
      *before = old;
      return kSuccess;
    }
    seen = was;
  }
}

// Every store of this process to proc is complete before the count moves [ORD-6]. Only this process writes the cell, so
// a put is enough on the way to another node.
template <class T>
Status Runtime<T>::notify(int proc) {
  ARMCI_RETURN_IF_ERROR(fence(proc));
  const Part& part = service_->parts[static_cast<std::size_t>(proc)];
  NotifyCell& cell = reinterpret_cast<Service*>(part.base)->cells[rank_];
  if (on_node(proc)) {
    cell.count.fetch_add(1, std::memory_order_seq_cst);
    if (cell.sleeping.load(std::memory_order_seq_cst) != 0) node::futex_wake(&cell.count, INT_MAX);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) {
    std::lock_guard guard(notify_mutex_);  // counts arrive in order
    std::uint32_t& sent = notified_[static_cast<std::size_t>(proc)];
    const std::uint32_t count = sent + 1;
    ARMCI_RETURN_IF_ERROR(remote_put(part, &cell.count, &count, sizeof count, proc, kBlocking));
    ARMCI_RETURN_IF_ERROR(flush(proc));
    sent = count;  // one that failed is sent again, not made up for
  }
  return kSuccess;
}

template <class T>
Status Runtime<T>::notify_wait(int proc, int* count) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  const Part& part = service_->parts[static_cast<std::size_t>(rank_)];
  NotifyCell& cell = reinterpret_cast<Service*>(part.base)->cells[proc];
  std::atomic<std::uint32_t>& taken = notifications_[static_cast<std::size_t>(proc)];
  node::Waiter waiter(node::WaitKind::kNotification);
  std::uint32_t consumed = taken.load(std::memory_order_relaxed);
  for (;;) {
    // Several threads may wait for one process: each takes a notification of its own.
    if (cell.count.load(std::memory_order_acquire) != consumed) {
      if (taken.compare_exchange_strong(consumed, consumed + 1, std::memory_order_relaxed)) break;
      continue;
    }
    transport_.progress();
    const bool busy = waiter.busy();
    if (on_node(proc) && waiter.liveness_due()) node::node_memory().check_peers(node::WaitKind::kNotification);
    if (!busy) sleep_for_notification(cell, consumed, proc, waiter);
    consumed = taken.load(std::memory_order_relaxed);
  }
  if (count != nullptr) *count = static_cast<int>(consumed + 1);
  return kSuccess;
}

template <class T>
void Runtime<T>::sleep_for_notification(NotifyCell& cell, std::uint32_t consumed, int proc, node::Waiter& waiter) {
  cell.sleeping.fetch_add(1, std::memory_order_seq_cst);
  if (cell.count.load(std::memory_order_seq_cst) == consumed) {
    // A notification of another node wakes no thread.
    waiter.sleep_on(&cell.count, consumed, on_node(proc) ? node::kLivenessPeriodUs : waiter.sleep_us());
  }
  cell.sleeping.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace armci::runtime
