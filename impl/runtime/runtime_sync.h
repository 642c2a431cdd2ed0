// Runtime<T>: completion, fences and the barrier. Included by runtime.h.
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

// Memory ordering: sequentially consistent. The caller's earlier stores are visible everywhere before anything it reads
// afterwards is read: without the full barrier a CPU lets a later load overtake a store to node memory [FENCE-1].
inline void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// Whether no operation is pending or coalesced: a batch holds its handle, and held handles count.
//
// Memory ordering: acquire. A thread that sees no pending operation sees the data of the last operations, and their
// stores as issued.
template <class T>
bool Runtime<T>::idle() const {
  return kNodeOnly || handles_.total() == 0;
}

// Waits and fences with nothing to wait for are inlined into the entry points.
template <class T>
[[gnu::always_inline]] inline Status Runtime<T>::wait(armci_hdl_t* handle) {
  return idle() && observe_flags == 0 ? kSuccess : wait_for_pending(handle);
}

template <class T>
[[gnu::noinline]] Status Runtime<T>::wait_for_pending(armci_hdl_t* handle) {
  Status status;
  if constexpr (!kNodeOnly) {
    if (handle != nullptr) status = flush_batch(read_handle(handle));
    if constexpr (WaitsForCompletion<T>) wait_for_each(handles_.pending_of(handle), &status);
    await_completion(
        [&] { return handles_.complete(handle, [&](Completion& completion) { return ended(completion, &status); }); });
  }
  ARMCI_RETURN_IF_ERROR(status);
  return observe_flags == 0 ? kSuccess : verify_buffers(handle);
}

template <class T>
Status Runtime<T>::test(armci_hdl_t* handle, bool* done) {
  *done = true;
  if constexpr (!kNodeOnly) {
    Status status;
    const bool issued = handle == nullptr || flush_batch_step(read_handle(handle), &status);
    transport_.progress();
    *done = issued && handles_.complete(handle, [&](Completion& completion) { return ended(completion, &status); });
    ARMCI_RETURN_IF_ERROR(status);
  }
  return *done && observe_flags != 0 ? verify_buffers(handle) : kSuccess;
}

template <class T>
Status Runtime<T>::wait_proc(int proc) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  if constexpr (!kNodeOnly) ARMCI_RETURN_IF_ERROR(complete_all_pending([proc](int target) { return target == proc; }));
  return observe_flags == 0 ? kSuccess : verify_buffers_to(proc);
}

template <class T>
Status Runtime<T>::wait_all() {
  if constexpr (!kNodeOnly) ARMCI_RETURN_IF_ERROR(complete_all_pending([](int) { return true; }));
  return observe_flags == 0 ? kSuccess : verify_all_buffers();
}

// Reads the pending operations before the unflushed stores: see idle().
template <class T>
[[gnu::always_inline]] inline Status Runtime<T>::fence(int proc) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  if (!idle() || observe_flags != 0 || (!kNodeOnly && has_unflushed(proc))) return fence_pending(proc);
  full_fence();
  return kSuccess;
}

template <class T>
[[gnu::noinline]] Status Runtime<T>::fence_pending(int proc) {
  Status status;
  if constexpr (!kNodeOnly) {
    status = complete_all_pending([proc](int target) { return target == proc; });
    flush_if_unflushed(proc, &status);
  }
  full_fence();
  if (observe_flags != 0 && status.ok()) status = verify_buffers_to(proc);
  return status;
}

// Also after the failure of one target all others are flushed; the last failure is returned.
template <class T>
Status Runtime<T>::fence_all() {
  Status status;
  if constexpr (!kNodeOnly) {
    status = complete_all_pending([](int) { return true; });
    if constexpr (FlushesAll<T>) {
      const Status flushed = flush_all();
      if (!flushed.ok()) status = flushed;
    } else {
      for (int proc = 0; proc < size_; ++proc) flush_if_unflushed(proc, &status);
    }
  }
  full_fence();
  if (observe_flags != 0 && status.ok()) status = verify_all_buffers();
  return status;
}

template <class T>
Status Runtime<T>::fence_group(const Group& group) {
  if (kNodeOnly && observe_flags == 0) {
    full_fence();
    return kSuccess;
  }
  Status status;
  for (int proc : group.members()) {
    const Status one = fence(proc);
    if (!one.ok()) status = one;
  }
  return status;
}

// A process whose fence fails still enters the barrier, since the others wait for it.
template <class T>
Status Runtime<T>::barrier(Group& group) {
  Status status = fence_all();
  const Status left = process_barrier(group);
  return left.ok() ? status : left;
}

}  // namespace armci::runtime
