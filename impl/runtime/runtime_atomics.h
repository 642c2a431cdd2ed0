// Runtime<T>: read-modify-write and notification. Included by runtime.h.
#pragma once

#include <optional>
#include <type_traits>

#include "impl/runtime/runtime.h"

namespace armci::runtime {

// The memory of the runtime itself in every process: the lock of accumulates that go through the transport, the sleep
// of this process's threads, and for each peer the number of its notifications, which only that peer changes.
template <class T>
struct Runtime<T>::Service {
  alignas(64) std::atomic<std::int64_t> accumulate_lock;
  alignas(64) node::WakeUp wake_up;
  alignas(64) std::uint64_t notifications[];
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

template <class T>
template <std::integral Value>
[[gnu::always_inline]] inline Status Runtime<T>::rmw(node::RmwOp op, void* remote, Value operand, Value compare,
                                                     Value* before, int proc, How how) {
  // A locked instruction waits for every older store, so the usual way makes no calls and saves no registers.
  const bool aligned = reinterpret_cast<std::uintptr_t>(remote) % sizeof(Value) == 0;
  if (aligned && observe_flags == 0 && regions_.find_recent(proc, remote, sizeof(Value)) != nullptr &&
      cpu_atomics(proc)) [[likely]] {
    *before = node::rmw<Value>(op, remote, operand, compare);
    return kSuccess;
  }
  return checked_rmw(op, remote, operand, compare, before, proc, how);
}

template <class T>
template <std::integral Value>
[[gnu::noinline]] Status Runtime<T>::checked_rmw(node::RmwOp op, void* remote, Value operand, Value compare,
                                                 Value* before, int proc, How how) {
  const Part* part = nullptr;
  ARMCI_RETURN_IF_ERROR(check_rmw(remote, sizeof(Value), proc, &part));
  if (cpu_atomics(proc)) {
    *before = node::rmw<Value>(op, remote, operand, compare);
    return kSuccess;
  }
  if constexpr (ExecutesRmw<T>) {
    const Rmw as = {node::signed_op<Value>(op), sizeof(Value), static_cast<std::uint64_t>(operand),
                    static_cast<std::uint64_t>(compare)};
    if (executes(op)) return issue_rmw(*part, remote, as, before, proc, how);
  }
  if constexpr (!kNodeOnly && !kExecutesAllRmw) {
    return remote_rmw(*part, op, remote, operand, compare, before, proc);
  }
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

// Whether rmw() of the transport has the operation.
template <class T>
constexpr bool Runtime<T>::executes(node::RmwOp op) {
  if constexpr (ExecutesSomeRmw<T>) return T::executes(op);
  return kExecutesAllRmw;
}

template <class T>
Status Runtime<T>::issue_rmw(const Part& part, void* remote, const Rmw& rmw, void* before, int proc, How how) {
  if (how.blocking) {
    ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
    return transport_.rmw(proc, part.key, remote, rmw, before, nullptr);
  }
  Completion completion = completion_for(how);
  const Status issued = transport_.rmw(proc, part.key, remote, rmw, before, &completion);
  note_store(proc);
  ARMCI_RETURN_IF_ERROR(issued);
  return finish(std::move(completion), proc, how);
}

// Without rmw() of the transport. One operation of the transport where it has that. Otherwise a compare-and-swap
// replaces the word around the element, and is repeated until no other process has changed the word meanwhile. An
// element of 4 bytes has always the one or always the other word.
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

template <class T>
node::WakeUp* Runtime<T>::wake_up_of(int proc) const {
  return &reinterpret_cast<Service*>(service_->parts[static_cast<std::size_t>(proc)].base)->wake_up;
}

// Every store of this process to proc precedes the count [ORD-6]. Only this process changes the count, so it can be set
// on the way to another node.
template <class T>
Status Runtime<T>::notify(int proc) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  const Part& part = service_->parts[static_cast<std::size_t>(proc)];
  std::uint64_t* const count = &reinterpret_cast<Service*>(part.base)->notifications[rank_];
  if (on_node(proc)) {
    ARMCI_RETURN_IF_ERROR(fence(proc));
    node::apply({count, 1, node::SignalOp::kAdd, wake_up_of(proc)});
    return kSuccess;
  }
  if constexpr (!kNodeOnly) {
    if (has_signals()) {
      ARMCI_RETURN_IF_ERROR(flush_batches([proc](int target) { return target == proc; }));
    } else {
      ARMCI_RETURN_IF_ERROR(fence(proc));
    }
    std::lock_guard guard(notify_mutex_);  // counts arrive in order
    std::uint64_t& sent = notified_[static_cast<std::size_t>(proc)];
    ARMCI_RETURN_IF_ERROR(set_word(proc, part, count, sent + 1));
    ++sent;  // one that failed is sent again, not made up for
  }
  return kSuccess;
}

template <class T>
Status Runtime<T>::notify_wait(int proc, int* count) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  const Part& part = service_->parts[static_cast<std::size_t>(rank_)];
  const std::atomic_ref arrived(reinterpret_cast<Service*>(part.base)->notifications[proc]);
  std::atomic<std::uint64_t>& taken = notifications_[static_cast<std::size_t>(proc)];
  std::uint64_t number = 0;
  // Several threads may wait for one process: each takes a notification of its own.
  await_signal(node::WaitKind::kNotification, servers_wake() || on_node(proc), [&] {
    std::uint64_t last = taken.load(std::memory_order_relaxed);
    while (arrived.load(std::memory_order_acquire) != last) {
      number = last + 1;
      if (taken.compare_exchange_weak(last, number, std::memory_order_relaxed)) return true;
    }
    return false;
  });
  if (count != nullptr) *count = static_cast<int>(number);
  return kSuccess;
}

template <class T>
template <class Changed>
void Runtime<T>::await_signal(node::WaitKind kind, bool woken, Changed changed) {
  node::Waiter waiter(kind, several_nodes_ ? node::Busy::kForSomeTime : node::Busy::kOfKind);
  for (bool over = changed(); !over;) {
    transport_.progress();
    const bool busy = waiter.busy();
    if (waiter.liveness_due()) node::node_memory().check_peers(kind);
    if (!busy) {
      node::sleep_until_signal(*wake_up_of(rank_), waiter, woken ? node::kLivenessPeriodUs : waiter.sleep_us(),
                               [&] { return over = changed(); });
    }
    if (!over) over = changed();
  }
}

template <class T>
Status Runtime<T>::put_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* word, std::uint64_t value,
                              node::SignalOp op, int proc) {
  if constexpr (Signals<T>) {
    if (!on_node(proc) && has_signals()) return remote_put_signal(src, dst, bytes, word, value, op, proc);
  }
  ARMCI_RETURN_IF_ERROR(contiguous<Kind::kPut>(src, dst, bytes, proc, kBlocking));
  std::uint64_t before = 0;
  const auto how = op == node::SignalOp::kSet ? node::RmwOp::kSwap : node::RmwOp::kAdd;
  ARMCI_RETURN_IF_ERROR(rmw<std::uint64_t>(how, word, value, 0, &before, proc));
  if (same_node(proc)) node::wake(*wake_up_of(proc));
  return kSuccess;
}

template <class T>
Status Runtime<T>::remote_put_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* word,
                                     std::uint64_t value, node::SignalOp op, int proc) {
  const Part* part = nullptr;
  ARMCI_RETURN_IF_ERROR(check_rmw(word, sizeof *word, proc, &part));
  if (bytes > 0) ARMCI_RETURN_IF_ERROR(check_contiguous<Kind::kPut>(src, dst, bytes, proc, &part));
  const Status issued = transport_.put_signal(proc, part->key, dst, src, bytes, {word, value, op, wake_up_of(proc)});
  note_store(proc);
  return issued;
}

}  // namespace armci::runtime
