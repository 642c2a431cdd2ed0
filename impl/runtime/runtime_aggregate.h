// Runtime<T>: aggregate handles. Included by runtime.h.
//
// Short contiguous transfers to other nodes are noted down and handed to the transport as lists, one for each run of
// one length: when there are many, when the handle comes with such a transfer of another kind, target or scale, and
// when somebody waits. What is noted down keeps the handle's slot.
//
// One thread at a time begins what was gathered, by itself or by others, so that whoever finds nothing left to begin
// knows that all has been begun [FENCE-1, THR-1].
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

template <class T>
template <Kind kind>
bool Runtime<T>::is_gathered(How how, std::size_t bytes, int proc) const {
  if constexpr (!kTakesShapes<kind>) return false;
  return !how.blocking && bytes <= Aggregates::kSegmentBytesMax && how.handle != nullptr &&
         read_handle(how.handle).aggregate != 0 && !same_node(proc);
}

template <class T>
template <Kind kind>
Status Runtime<T>::gather(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                          const node::AccSpec& acc) {
  GatheredAs as(kind, proc);
  if constexpr (kind == Kind::kAcc) as.set_accumulate(acc);
  if (aggregates_.add(read_handle(how.handle), as, src, dst, bytes)) [[likely]]
    return kSuccess;
  ARMCI_RETURN_IF_ERROR(begin_gathered(read_handle(how.handle)));
  const HandleBits held = handles_.hold(how.handle);
  if (aggregates_.open(held, as, src, dst, bytes)) return kSuccess;
  // More handles gather than there are places for: this one goes by itself.
  const Status started = start_on_other_node<kind>(part, src, dst, bytes, proc, how, acc);
  handles_.let_go(held);
  return started;
}

// For who must not wait: begins one list, as one non-blocking call would, or all if another handle has come into the
// place of the rest. true: nothing is left; false also while another thread begins something.
template <class T>
bool Runtime<T>::begin_some_gathered(const HandleBits& handle, Status* status) {
  if (aggregates_.empty() || handle.slot == 0) return true;
  const std::unique_lock lock(beginning_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (!aggregates_.take(handle, &taken_)) return true;
  *status = begin_next_list();
  if (!taken_.all_begun() && aggregates_.put_back(&taken_)) return false;
  const Status rest = begin_taken();
  if (!rest.ok()) *status = rest;
  return true;
}

template <class T>
Status Runtime<T>::begin_gathered(const HandleBits& handle) {
  if (aggregates_.empty() || handle.slot == 0) return kSuccess;
  const std::lock_guard lock(beginning_);
  return aggregates_.take(handle, &taken_) ? begin_taken() : kSuccess;
}

// What fails does not keep the rest from being begun; the last failure is reported.
template <class T>
template <class Wanted>
Status Runtime<T>::begin_all_gathered(Wanted wanted) {
  Status status;
  if (aggregates_.empty()) return status;
  const std::lock_guard lock(beginning_);
  for (std::size_t place = 0; place < Aggregates::kHandlesMax; ++place) {
    if (!aggregates_.take_from(place, wanted, &taken_)) continue;
    const Status one = begin_taken();
    if (!one.ok()) status = one;
  }
  return status;
}

template <class T>
Status Runtime<T>::begin_taken() {
  Status status;
  while (!taken_.all_begun()) {
    const Status one = begin_next_list();
    if (!one.ok()) status = one;
  }
  handles_.let_go(taken_.handle);
  aggregates_.begun();
  return status;
}

// Operations belong to the handle whose slot was held: there may be other copies of it than the caller's.
template <class T>
Status Runtime<T>::begin_next_list() {
  armci_hdl_t handle;
  write_handle(&handle, taken_.handle);
  const How how = through(&handle);
  const node::AccSpec acc = taken_.as.accumulate();
  const Segments run = taken_.next();
  taken_.begun += run.count;
  switch (taken_.as.kind) {
    case Kind::kPut:
      return begin_list<Kind::kPut>(run, taken_.as.proc, how, acc);
    case Kind::kGet:
      return begin_list<Kind::kGet>(run, taken_.as.proc, how, acc);
    case Kind::kAcc:
      return begin_list<Kind::kAcc>(run, taken_.as.proc, how, acc);
  }
  return kSuccess;
}

template <class T>
template <Kind kind>
Status Runtime<T>::begin_list(const Segments& segments, int proc, How how, const node::AccSpec& acc) {
  if constexpr (kTakesShapes<kind>) {
    if (segments.count > 1) return remote_list<kind>(segments, proc, how, acc);
    const void* remote = kind == Kind::kGet ? segments.src[0] : segments.dst[0];
    const Part* part = regions_.find(proc, remote, segments.bytes);
    if (part == nullptr) return bad_address(proc, kind == Kind::kGet ? "src" : "dst", remote, segments.bytes);
    return start_on_other_node<kind>(*part, segments.src[0], segments.dst[0], segments.bytes, proc, how, acc);
  }
  return kSuccess;  // nothing is gathered
}

}  // namespace armci::runtime
