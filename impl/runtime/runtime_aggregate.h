// Runtime<T>: aggregate handles, for transports that take lists and do not coalesce by themselves. Included by
// runtime.h.
//
// The runtime coalesces short contiguous transfers to other nodes in a batch for each handle. The runtime flushes the
// batch as lists, one for each run of one length. A batch is flushed when it is full, and when a thread waits. A
// transfer of another kind, target or scale with the same handle flushes it as well. A batch keeps the slot of its
// handle.
//
// One thread at a time flushes batches, its own and those of other threads. A thread that finds no batch thus knows
// that all batches have been issued [FENCE-1, THR-1].
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

template <class T>
template <Kind kind>
bool Runtime<T>::is_coalesced(How how, std::size_t bytes, int proc) const {
  if constexpr (!kTakesShapes<kind> || Coalesces<T>) return false;
  return !how.blocking && bytes <= Aggregates::kCoalescedBytesMax && how.handle != nullptr &&
         read_handle(how.handle).aggregate != 0 && !same_node(proc);
}

template <class T>
template <Kind kind>
Status Runtime<T>::coalesce(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                            const node::AccSpec& acc) {
  AggregateKey key(kind, proc);
  if constexpr (kind == Kind::kAcc) key.set_accumulate(acc);
  if (aggregates_.add(read_handle(how.handle), key, src, dst, bytes)) [[likely]]
    return kSuccess;
  ARMCI_RETURN_IF_ERROR(flush_batch(read_handle(how.handle)));
  const HandleBits held = handles_.hold(how.handle);
  if (aggregates_.open(held, key, src, dst, bytes)) return kSuccess;
  // Another handle has the bucket: this transfer is not coalesced.
  const Status issued = issue_to_other_node<kind>(part, src, dst, bytes, proc, how, acc);
  handles_.let_go(held);
  return issued;
}

// For calls that must not wait: issues one list, as one non-blocking call would. The call issues all lists if another
// handle has taken the bucket meanwhile. True: nothing is left. False also while another thread flushes a batch.
template <class T>
bool Runtime<T>::flush_batch_step(const HandleBits& handle, Status* status) {
  if (aggregates_.empty() || handle.slot == 0) return true;
  const std::unique_lock lock(flushing_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (!aggregates_.take(handle, &taken_)) return true;
  *status = issue_next_list();
  if (!taken_.all_issued() && aggregates_.put_back(&taken_)) return false;
  const Status rest = flush_taken();
  if (!rest.ok()) *status = rest;
  return true;
}

template <class T>
Status Runtime<T>::flush_batch(const HandleBits& handle) {
  if (aggregates_.empty() || handle.slot == 0) return kSuccess;
  const std::lock_guard lock(flushing_);
  return aggregates_.take(handle, &taken_) ? flush_taken() : kSuccess;
}

// A failure does not keep the other batches from being issued; the last failure is returned.
template <class T>
template <class Wanted>
Status Runtime<T>::flush_batches(Wanted wanted) {
  Status status;
  if (aggregates_.empty()) return status;
  const std::lock_guard lock(flushing_);
  for (std::size_t number = 0; number < Aggregates::kHandlesMax; ++number) {
    if (!aggregates_.take_from(number, wanted, &taken_)) continue;
    const Status one = flush_taken();
    if (!one.ok()) status = one;
  }
  return status;
}

template <class T>
Status Runtime<T>::flush_taken() {
  Status status;
  while (!taken_.all_issued()) {
    const Status one = issue_next_list();
    if (!one.ok()) status = one;
  }
  handles_.let_go(taken_.handle);
  aggregates_.flushed();
  return status;
}

// Operations belong to the handle whose slot was held: there may be other copies of it than the caller's.
template <class T>
Status Runtime<T>::issue_next_list() {
  armci_hdl_t handle;
  write_handle(&handle, taken_.handle);
  const How how = through(&handle);
  const node::AccSpec acc = taken_.key.accumulate();
  const Segments run = taken_.next();
  taken_.issued += run.count;
  switch (taken_.key.kind) {
    case Kind::kPut:
      return issue_list<Kind::kPut>(run, taken_.key.proc, how, acc);
    case Kind::kGet:
      return issue_list<Kind::kGet>(run, taken_.key.proc, how, acc);
    case Kind::kAcc:
      return issue_list<Kind::kAcc>(run, taken_.key.proc, how, acc);
  }
  return kSuccess;
}

template <class T>
template <Kind kind>
Status Runtime<T>::issue_list(const Segments& segments, int proc, How how, const node::AccSpec& acc) {
  if constexpr (kTakesShapes<kind>) {
    if (segments.count > 1) return remote_list<kind>(segments, proc, how, acc);
    const void* remote = kind == Kind::kGet ? segments.src[0] : segments.dst[0];
    const Part* part = regions_.find(proc, remote, segments.bytes);
    if (part == nullptr) return bad_address(proc, kind == Kind::kGet ? "src" : "dst", remote, segments.bytes);
    return issue_to_other_node<kind>(*part, segments.src[0], segments.dst[0], segments.bytes, proc, how, acc);
  }
  return kSuccess;  // this kind is never coalesced
}

}  // namespace armci::runtime
