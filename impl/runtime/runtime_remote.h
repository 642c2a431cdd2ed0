// Runtime<T>: the way to other nodes, built from the transport's required members. Included by runtime.h.
//
//   blocking put    [flush if the transport may reorder] put, wait for local completion
//   accumulate      lock word of the target (atomic64) -> get -> add here -> put -> flush -> unlock
//
// Instantiated, but never called, for transports that reach no other node.
#pragma once

#include <array>
#include <span>

#include "impl/base/thread_block.h"
#include "impl/node/waiter.h"
#include "impl/runtime/runtime.h"

namespace armci::runtime {

inline constexpr std::size_t kOutstandingMax =
    4096;  // with more pending operations a call completes all of them [CMPL-6]
inline constexpr std::size_t kAccumulateChunkBytes = 65536;  // read, added and written back at a time

// Waits until complete() returns true. A transport with wait() has ended the operations before, while the table of
// handles was not locked; the tests then remove them from it.
template <class T>
template <class Complete>
void Runtime<T>::await_completion(Complete complete) {
  node::Waiter waiter(node::WaitKind::kOperations);
  while (!complete()) {
    transport_.progress();
    waiter.step();
  }
}

// *status: the last failure, if any.
template <class T>
void Runtime<T>::wait_for_each(std::span<const Completion> completions, Status* status) {
  for (const Completion& each : completions) {
    const Status one = transport_.wait(each);
    if (!one.ok()) *status = one;
  }
}

// Waits for local completion of one operation.
template <class T>
Status Runtime<T>::complete(Completion& completion) {
  Status status;
  if constexpr (WaitsForCompletion<T>) wait_for_each({&completion, 1}, &status);
  await_completion([&] { return ended(completion, &status); });
  return status;
}

// Of an operation that begins. One of an aggregate handle says so to a transport that coalesces [AGG-1].
template <class T>
auto Runtime<T>::completion_for(How how) const -> Completion {
  Completion completion;
  if constexpr (Coalesces<T>) {
    completion.aggregate = how.handle != nullptr && read_handle(how.handle).aggregate != 0;
  }
  return completion;
}

template <class T>
Status Runtime<T>::finish(Completion completion, int proc, How how) {
  if constexpr (ReportsCompletion<T>) {
    if (completion.complete()) return kSuccess;
  }
  if (how.blocking) return complete(completion);
  handles_.add(how.handle, {std::move(completion), proc});
  if (handles_.total() > kOutstandingMax) return complete_pending([](int) { return true; });
  return kSuccess;
}

// Tests an operation once. An operation that fails has ended too.
template <class T>
bool Runtime<T>::ended(Completion& completion, Status* status) {
  bool done = false;
  const Status one = transport_.test(&completion, &done);
  if (!one.ok()) *status = one;
  return done || !one.ok();
}

// Completes locally every pending operation whose target is wanted. The handle table is unlocked between two passes, so
// that other threads can use it.
template <class T>
template <class Wanted>
Status Runtime<T>::complete_pending(Wanted wanted) {
  if (handles_.total() == 0) return kSuccess;
  Status status;
  const std::uint64_t last = handles_.last();
  const auto mine = [&](const auto& pending) { return pending.number <= last && wanted(pending.target); };
  if constexpr (WaitsForCompletion<T>) wait_for_each(handles_.pending_if(mine), &status);
  await_completion(
      [&] { return handles_.complete_if(mine, [&](Completion& completion) { return ended(completion, &status); }); });
  return status;
}

// As complete_pending(), after flushing the batches to these targets.
template <class T>
template <class Wanted>
Status Runtime<T>::complete_all_pending(Wanted wanted) {
  const Status flushed = flush_batches(wanted);
  const Status completed = complete_pending(wanted);
  return completed.ok() ? flushed : completed;
}

// Stores or signals.
template <class T>
bool Runtime<T>::has_unflushed(int proc) const {
  return has_unflushed_stores(proc) || !unflushed(proc).signals.is_flushed();
}

// Memory ordering: acquire. A count read as issued belongs to an operation that began before; a thread that reads the
// count as flushed comes after the flush.
template <class T>
auto Runtime<T>::issued_to(int proc) const -> Covered {
  const Unflushed& counts = unflushed(proc);
  return {counts.stores.issued.load(std::memory_order_acquire), counts.signals.issued.load(std::memory_order_acquire)};
}

template <class T>
void Runtime<T>::note_flushed(int proc, const Covered& covered) {
  unflushed(proc).stores.note_flushed(covered.stores);
  unflushed(proc).signals.note_flushed(covered.signals);
}

// Stores stay unflushed when the flush fails.
template <class T>
Status Runtime<T>::flush(int proc) {
  const Covered covered = issued_to(proc);
  ARMCI_RETURN_IF_ERROR(transport_.flush(proc));
  note_flushed(proc, covered);
  return kSuccess;
}

// As flush(), for all targets at once. Only for transports with flush_all().
template <class T>
Status Runtime<T>::flush_all() {
  std::vector<std::pair<int, Covered>> covered;
  for (int proc = 0; proc < size_; ++proc) {
    if (has_unflushed(proc)) covered.emplace_back(proc, issued_to(proc));
  }
  if (covered.empty()) return kSuccess;
  if (covered.size() == 1) return flush(covered.front().first);
  ARMCI_RETURN_IF_ERROR(transport_.flush_all());
  for (const auto& [proc, counts] : covered) note_flushed(proc, counts);
  return kSuccess;
}

// Keeps an earlier failure in *status unless this one fails too.
template <class T>
void Runtime<T>::flush_if_unflushed(int proc, Status* status) {
  if (!has_unflushed(proc)) return;
  const Status one = flush(proc);
  if (!one.ok()) *status = one;
}

// Orders the next operation after this process's earlier stores to proc.
template <class T>
Status Runtime<T>::order_after_stores(int proc) {
  return T::kTraits.in_order || !has_unflushed_stores(proc) ? kSuccess : flush(proc);
}

template <class T>
Status Runtime<T>::remote_put(const Part& part, void* remote, const void* local, std::size_t bytes, int proc, How how) {
  if (how.blocking) ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  return issue_put(part, remote, local, bytes, proc, how);
}

// Issues a put without order after earlier ones.
template <class T>
Status Runtime<T>::issue_put(const Part& part, void* remote, const void* local, std::size_t bytes, int proc, How how) {
  if constexpr (TransfersAtOnce<T>) {
    if (how.blocking) {
      const Status done = transport_.put_now(proc, part.key, remote, local, bytes);
      note_store(proc);
      return done;
    }
  }
  Completion completion = completion_for(how);
  const Status issued = transport_.put(proc, part.key, remote, local, bytes, &completion);
  note_store(proc);
  ARMCI_RETURN_IF_ERROR(issued);
  return finish(std::move(completion), proc, how);
}

// Issues a signal that changes a word of another process after all earlier stores to it. Precondition: has_signals().
template <class T>
Status Runtime<T>::issue_signal(int proc, const Part& part, const node::Signal& signal) {
  const Status issued = transport_.put_signal(proc, part.key, nullptr, nullptr, 0, signal);
  unflushed(proc).signals.note_issued();
  return issued;
}

// Sets a word that only this process changes, of a process of another node. Stores before it are complete or, with
// signals, precede it.
template <class T>
Status Runtime<T>::set_word(int proc, const Part& part, std::uint64_t* word, std::uint64_t value) {
  if constexpr (Signals<T>) {
    if (has_signals()) {
      return issue_signal(proc, part, {word, value, node::SignalOp::kSet, wake_up_of(proc), /*sole_writer=*/true});
    }
  }
  ARMCI_RETURN_IF_ERROR(issue_put(part, word, &value, sizeof value, proc, kBlocking));
  return flush(proc);
}

template <class T>
Status Runtime<T>::remote_get(const Part& part, const void* remote, void* local, std::size_t bytes, int proc, How how) {
  ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  if constexpr (TransfersAtOnce<T>) {
    if (how.blocking) return transport_.get_now(proc, part.key, remote, local, bytes);
  }
  Completion completion = completion_for(how);
  ARMCI_RETURN_IF_ERROR(transport_.get(proc, part.key, remote, local, bytes, &completion));
  return finish(std::move(completion), proc, how);
}

// Issues a whole descriptor: issue(Completion*) calls the transport. Data for a target on this node must be there when
// the call returns, since a CPU reads them without the transport.
template <class T>
template <Kind kind, class Issue>
Status Runtime<T>::issue_whole(int proc, How how, Issue issue) {
  if (kind == Kind::kGet || how.blocking) ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  const bool at_once = how.blocking || on_node(proc);
  Completion completion = completion_for(how);
  const Status issued = issue(at_once ? nullptr : &completion);
  if (kind != Kind::kGet) note_store(proc);
  ARMCI_RETURN_IF_ERROR(issued);
  if (!at_once) return finish(std::move(completion), proc, how);
  return on_node(proc) ? flush(proc) : kSuccess;
}

// Segments with remote sides in several parts are issued in runs that share one part.
template <class T>
template <Kind kind>
Status Runtime<T>::remote_list(const Segments& segments, int proc, How how, const node::AccSpec& acc) {
  void* const* remotes = kind == Kind::kGet ? segments.src : segments.dst;
  for (std::size_t first = 0; first < segments.count;) {
    const Part* part = regions_.find(proc, remotes[first], segments.bytes);
    if (part == nullptr) return bad_address(proc, "iov", remotes[first], segments.bytes);
    std::size_t last = first + 1;
    const auto inside = [&](const void* at) {
      const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) - part->base);
      return offset < part->bytes && segments.bytes <= part->bytes - offset;
    };
    while (last < segments.count && inside(remotes[last])) ++last;
    const Segments run{segments.src + first, segments.dst + first, segments.bytes, last - first};
    ARMCI_RETURN_IF_ERROR(issue_whole<kind>(proc, how, [&](Completion* completion) {
      if constexpr (kind == Kind::kPut) return transport_.put_list(proc, part->key, run, completion);
      if constexpr (kind == Kind::kGet) return transport_.get_list(proc, part->key, run, completion);
      if constexpr (kind == Kind::kAcc) return transport_.accumulate_list(proc, part->key, run, acc, completion);
    }));
    first = last;
  }
  return kSuccess;
}

template <class T>
template <Kind kind>
Status Runtime<T>::remote_strided(const Part& part, const void* src, void* dst, const Strided& shape, int proc, How how,
                                  const node::AccSpec& acc) {
  if constexpr (kTakesShapes<kind>) {
    return issue_whole<kind>(proc, how, [&](Completion* completion) {
      if constexpr (kind == Kind::kPut) return transport_.put_strided(proc, part.key, dst, src, shape, completion);
      if constexpr (kind == Kind::kGet) return transport_.get_strided(proc, part.key, src, dst, shape, completion);
      if constexpr (kind == Kind::kAcc) {
        return transport_.accumulate_strided(proc, part.key, dst, src, shape, acc, completion);
      }
    });
  }
  Status status;
  if constexpr (kind == Kind::kAcc) ARMCI_RETURN_IF_ERROR(take_accumulate_lock(proc));
  if (kind == Kind::kPut && how.blocking) ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    if (!status.ok()) return;
    const void* source = static_cast<const char*>(src) + from;
    void* target = static_cast<char*>(dst) + to;
    // Segments of one call need no order among each other.
    if constexpr (kind == Kind::kPut) status = issue_put(part, target, source, shape.count[0], proc, how);
    if constexpr (kind == Kind::kGet) status = remote_get(part, source, target, shape.count[0], proc, how);
    if constexpr (kind == Kind::kAcc) status = locked_accumulate(part, target, source, shape.count[0], proc, acc);
  });
  if constexpr (kind == Kind::kAcc) {
    Status dropped = drop_accumulate_lock(proc);
    if (status.ok()) status = dropped;
  }
  return status;
}

// By the CPU where that makes things atomic together with the target node's server [RMW-2].
template <class T>
template <class Word>
Status Runtime<T>::atomic(int proc, const Part& part, void* remote, AtomicOp op, Word operand, Word compare,
                          Word* before) {
  if (cpu_atomics(proc)) {
    *before = node::rmw(node_op(op), remote, operand, compare);
    return kSuccess;
  }
  if constexpr (sizeof(Word) == sizeof(std::int32_t)) {
    return transport_.atomic32(proc, part.key, remote, op, operand, compare, before);
  } else {
    return transport_.atomic64(proc, part.key, remote, op, operand, compare, before);
  }
}

template <class T>
Status Runtime<T>::atomic64(int proc, const Part& part, void* remote, AtomicOp op, std::int64_t operand,
                            std::int64_t compare, std::int64_t* before) {
  return atomic(proc, part, remote, op, operand, compare, before);
}

template <class T>
Status Runtime<T>::take_accumulate_lock(int proc) {
  const Part& part = service_->parts[static_cast<std::size_t>(proc)];
  void* word = part.base + offsetof(Service, accumulate_lock);
  ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  node::Waiter waiter(node::WaitKind::kAccumulateLock);
  for (;;) {
    std::int64_t before = 0;
    ARMCI_RETURN_IF_ERROR(atomic64(proc, part, word, AtomicOp::kCompareSwap, rank_ + 1, 0, &before));
    if (before == 0) return kSuccess;
    transport_.progress();
    waiter.step();
  }
}

template <class T>
Status Runtime<T>::drop_accumulate_lock(int proc) {
  const Part& part = service_->parts[static_cast<std::size_t>(proc)];
  void* word = part.base + offsetof(Service, accumulate_lock);
  std::int64_t before = 0;
  // A failed flush is the failure of this accumulate alone; a lock that stayed would stop the accumulates of all
  // processes.
  const Status flushed = flush(proc);
  const Status dropped = atomic64(proc, part, word, AtomicOp::kCompareSwap, 0, rank_ + 1, &before);
  return dropped.ok() ? flushed : dropped;
}

template <class T>
Status Runtime<T>::locked_accumulate(const Part& part, void* remote, const void* local, std::size_t bytes, int proc,
                                     const node::AccSpec& acc) {
  auto* const chunk = ThreadBlock<std::array<char, kAccumulateChunkBytes>>::get();
  if (chunk == nullptr) {
    return fail(Code::kMemory, "MEM-8", "no memory is left for the %zu bytes of an accumulate's buffer",
                kAccumulateChunkBytes);
  }
  const std::size_t element = node::element_bytes(acc.type);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(bytes - done, kAccumulateChunkBytes);
    char* at = static_cast<char*>(remote) + done;
    ARMCI_RETURN_IF_ERROR(remote_get(part, at, chunk->data(), now, proc, kBlocking));
    node::accumulate_kernel(acc.type)(acc.scale, static_cast<const char*>(local) + done, chunk->data(), now / element);
    ARMCI_RETURN_IF_ERROR(remote_put(part, at, chunk->data(), now, proc, kBlocking));
    done += now;
  }
  return kSuccess;
}

template <class T>
template <class Word>
Status Runtime<T>::read_word(int proc, const Part& part, const void* remote, Word* value) {
  if constexpr (TransfersAtOnce<T>) return transport_.get_now(proc, part.key, remote, value, sizeof *value);
  Completion completion;
  ARMCI_RETURN_IF_ERROR(transport_.get(proc, part.key, remote, value, sizeof *value, &completion));
  return complete(completion);
}

}  // namespace armci::runtime
