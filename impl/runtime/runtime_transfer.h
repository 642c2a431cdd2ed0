// Runtime<T>: put, get and accumulate in every shape, up to the point where same node and other nodes part.
// Included by runtime.h.
#pragma once

#include "impl/runtime/runtime.h"

namespace armci::runtime {

template <class T>
Status Runtime<T>::bad_address(int proc, const char* name, const void* address, std::size_t bytes) const {
  return fail(Code::kAddress, "ERR-1",
              "argument %s = %p with %zu bytes is outside every region of process %d; pass an "
              "address in the part that ARMCI_Malloc returned for that process, with a length that ends in it",
              name, address, bytes, proc);
}

template <class T>
Status Runtime<T>::check_buffers(const void* src, const void* dst) const {
  if (src != nullptr && dst != nullptr) [[likely]]
    return kSuccess;
  return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass a valid address", src == nullptr ? "src" : "dst");
}

template <class T>
[[gnu::always_inline]] inline Status Runtime<T>::check_accumulate(const node::AccSpec& acc, const char* length_name,
                                                                  std::size_t bytes, const void* dst,
                                                                  std::uintptr_t alignment) const {
  if (static_cast<unsigned>(acc.type) > static_cast<unsigned>(node::AccType::kComplexDouble)) [[unlikely]] {
    return fail(Code::kType, "ERR-1",
                "argument datatype = %d is outside 0..5 (ARMCI_ACC_INT..ARMCI_ACC_DCP); pass one of these",
                static_cast<int>(acc.type));
  }
  if (acc.scale == nullptr && bytes != 0) [[unlikely]]  // nothing to move needs no scale [COMPAT-8]
    return fail(Code::kNull, "ERR-1", "argument scale is NULL; pass the address of the scale");
  // Sizes are powers of two: masks, because a division takes longer than the rest of a small accumulate.
  if ((bytes & (node::element_bytes(acc.type) - 1)) != 0) [[unlikely]] {
    return fail(Code::kLength, "ACC-5", "argument %s = %zu is no multiple of the element size %zu; pass whole elements",
                length_name, bytes, node::element_bytes(acc.type));
  }
  if ((alignment & (node::component_bytes(acc.type) - 1)) != 0) [[unlikely]] {
    return fail(Code::kAlignment, "ACC-5",
                "argument dst = %p or one of its strides is not aligned to the %zu bytes of its type; align address "
                "and strides",
                dst, node::component_bytes(acc.type));
  }
  return kSuccess;
}

template <class T>
template <Kind kind>
Status Runtime<T>::observe(const RegionType& region, std::size_t bytes, int proc) const {
  if ((observe_flags & kObserveUsage) != 0) {
    usage_of_call.bytes += bytes;
    usage_of_call.peer = proc;
    if (same_node(proc)) usage_of_call.same_node_bytes += bytes;
  }
  if ((observe_flags & kObserveCheck) == 0) return kSuccess;
  return check_promise(region.mode, kind == Kind::kPut, kind == Kind::kGet, kind == Kind::kAcc);
}

// The path to other nodes is a call, so that its stack frame costs the path on the node nothing.
template <class T>
template <Kind kind>
[[gnu::always_inline]] inline Status Runtime<T>::move_contiguous(const Part& part, const void* src, void* dst,
                                                                 std::size_t bytes, int proc, How how,
                                                                 const node::AccSpec& acc) {
  if constexpr (kind == Kind::kAcc) {
    if (cpu_atomics(proc)) {
      node::Accumulator(node::node_memory().accumulate_locks(), acc.type, acc.scale).add(dst, src, bytes);
      return kSuccess;
    }
  } else if (on_node(proc)) {
    // Memory ordering: stores of this process take effect in issue order, and no read here is older than that of an
    // earlier call [ORD-1, ORD-4]; compiler barriers only where the CPU keeps that order by itself.
    std::atomic_thread_fence(std::memory_order_release);
    node::copy(dst, src, bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) return move_to_other_node<kind>(part, src, dst, bytes, proc, how, acc);
  return kSuccess;
}

template <class T>
template <Kind kind>
[[gnu::noinline]] Status Runtime<T>::move_to_other_node(const Part& part, const void* src, void* dst, std::size_t bytes,
                                                        int proc, How how, const node::AccSpec& acc) {
  if (is_coalesced<kind>(how, bytes, proc)) return coalesce<kind>(part, src, dst, bytes, proc, how, acc);
  return issue_to_other_node<kind>(part, src, dst, bytes, proc, how, acc);
}

template <class T>
template <Kind kind>
Status Runtime<T>::issue_to_other_node(const Part& part, const void* src, void* dst, std::size_t bytes, int proc,
                                       How how, const node::AccSpec& acc) {
  if constexpr (kind == Kind::kPut) return remote_put(part, dst, src, bytes, proc, how);
  if constexpr (kind == Kind::kGet) return remote_get(part, src, dst, bytes, proc, how);
  if constexpr (kind == Kind::kAcc) {
    Strided shape{};
    shape.count[0] = bytes;
    return remote_strided<kind>(part, src, dst, shape, proc, how, acc);
  }
}

// The usual call names a part that this thread used lately and passes every check at once. Any other call, wrong ones
// included, takes the long path, which finds the exact error.
template <class T>
template <Kind kind>
[[gnu::always_inline]] inline Status Runtime<T>::contiguous(const void* src, void* dst, std::size_t bytes, int proc,
                                                            How how, const node::AccSpec& acc) {
  if constexpr (kind == Kind::kAcc) {
    const auto alignment = bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(dst);  // no bytes, no address [XFER-3]
    ARMCI_RETURN_IF_ERROR(check_accumulate(acc, "bytes", bytes, dst, alignment));
  }
  const Part* part = regions_.find_recent(proc, kind == Kind::kGet ? src : dst, bytes);
  const void* local = kind == Kind::kGet ? dst : src;
  if (part == nullptr || bytes == 0 || local == nullptr || observe_flags != 0) [[unlikely]] {
    return contiguous_checked<kind>(src, dst, bytes, proc, how, acc);
  }
  return move_contiguous<kind>(*part, src, dst, bytes, proc, how, acc);
}

template <class T>
template <Kind kind>
Status Runtime<T>::check_contiguous(const void* src, const void* dst, std::size_t bytes, int proc, const Part** part) {
  ARMCI_RETURN_IF_ERROR(check_buffers(src, dst));
  const void* remote = kind == Kind::kGet ? src : dst;
  *part = regions_.find(proc, remote, bytes);
  if (*part == nullptr) return bad_address(proc, kind == Kind::kGet ? "src" : "dst", remote, bytes);
  return observe_flags != 0 ? observe<kind>(*(*part)->region, bytes, proc) : kSuccess;
}

template <class T>
template <Kind kind>
[[gnu::noinline]] Status Runtime<T>::contiguous_checked(const void* src, void* dst, std::size_t bytes, int proc,
                                                        How how, const node::AccSpec& acc) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  if (bytes == 0) return kSuccess;  // [XFER-3]
  const Part* part = nullptr;
  ARMCI_RETURN_IF_ERROR(check_contiguous<kind>(src, dst, bytes, proc, &part));
  if (observe_flags != 0) {
    if ((observe_flags & kObserveCheck) != 0 && kind != Kind::kAcc && same_node(proc)) {
      check_contiguous_overlap(src, dst, bytes);
    }
    if (!how.blocking) watch_buffer({how.handle, proc}, kind == Kind::kGet, src, bytes);
  }
  return move_contiguous<kind>(*part, src, dst, bytes, proc, how, acc);
}

// Copies rows between this process and a part that it used lately, in one step. False, without effect, for any other
// call or a wrong argument.
template <class T>
template <Kind kind>
[[gnu::always_inline]] inline bool Runtime<T>::move_rows(const void* src, std::ptrdiff_t src_stride, void* dst,
                                                         std::ptrdiff_t dst_stride, std::size_t bytes, std::size_t rows,
                                                         int proc) {
  std::ptrdiff_t span = 0;
  std::size_t reach = 0;
  if (observe_flags != 0 || bytes == 0 || rows == 0) return false;
  if (__builtin_mul_overflow(kind == Kind::kGet ? src_stride : dst_stride, rows - 1, &span)) return false;
  const std::size_t distance = span < 0 ? -static_cast<std::size_t>(span) : static_cast<std::size_t>(span);
  if (__builtin_add_overflow(distance, bytes, &reach)) return false;
  const char* remote = static_cast<const char*>(kind == Kind::kGet ? src : dst) + (span < 0 ? span : 0);
  const void* local = kind == Kind::kGet ? dst : src;
  if (regions_.find_recent(proc, remote, reach) == nullptr || local == nullptr || !on_node(proc)) return false;
  std::atomic_thread_fence(std::memory_order_release);
  const auto gapless = static_cast<std::ptrdiff_t>(bytes);
  if (src_stride == gapless && dst_stride == gapless) {
    node::copy(dst, src, reach);
  } else {
    node::copy_rows(static_cast<char*>(dst), dst_stride, static_cast<const char*>(src), src_stride, rows, bytes);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

template <class T>
template <Kind kind>
[[gnu::noinline]] Status Runtime<T>::strided(const void* src, void* dst, const Strided& shape, int proc, How how,
                                             const node::AccSpec& acc) {
  if constexpr (kind != Kind::kAcc) {
    if (shape.levels == 0) return contiguous<kind>(src, dst, shape.count[0], proc, how);
  }
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  if constexpr (kind == Kind::kAcc) {
    auto alignment = shape.empty() ? 0 : reinterpret_cast<std::uintptr_t>(dst);
    for (int l = 0; l < shape.levels; ++l) alignment |= static_cast<std::uintptr_t>(shape.dst_stride[l]);
    ARMCI_RETURN_IF_ERROR(check_accumulate(acc, "count[0]", shape.count[0], dst, alignment));
  }
  if (shape.empty()) return kSuccess;
  ARMCI_RETURN_IF_ERROR(check_buffers(src, dst));
  const char* remote = static_cast<const char*>(kind == Kind::kGet ? src : dst);
  Extent extent;
  ARMCI_RETURN_IF_ERROR(
      extent_of(shape.count, kind == Kind::kGet ? shape.src_stride : shape.dst_stride, shape.levels, &extent));
  const auto reach = static_cast<std::size_t>(extent.high - extent.low);
  const Part* found = regions_.find(proc, remote + extent.low, reach);
  if (found == nullptr) [[unlikely]] {
    return bad_address(proc, kind == Kind::kGet ? "src" : "dst", remote + extent.low, reach);
  }
  if (observe_flags != 0) [[unlikely]] {
    ARMCI_RETURN_IF_ERROR(observe<kind>(*found->region, shape.total_bytes(), proc));
    if ((observe_flags & kObserveCheck) != 0) check_strided_overlap(shape, kind == Kind::kAcc);
    if (!how.blocking) watch_strided_buffer({how.handle, proc}, kind == Kind::kGet, src, shape);
  }
  if (shape.levels == 0) return move_contiguous<kind>(*found, src, dst, shape.count[0], proc, how, acc);
  if constexpr (kind == Kind::kAcc) {
    if (cpu_atomics(proc)) {
      const node::Accumulator accumulator(node::node_memory().accumulate_locks(), acc.type, acc.scale);
      for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
        accumulator.add(static_cast<char*>(dst) + to, static_cast<const char*>(src) + from, shape.count[0]);
      });
      return kSuccess;
    }
  } else if (on_node(proc)) {
    std::atomic_thread_fence(std::memory_order_release);
    node::copy_strided(static_cast<char*>(dst), shape.dst_stride, static_cast<const char*>(src), shape.src_stride,
                       shape.count, shape.levels);
    std::atomic_thread_fence(std::memory_order_acquire);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) return remote_strided<kind>(*found, src, dst, shape, proc, how, acc);
  return kSuccess;
}

// Checks one descriptor: every segment lies in some region of proc. First all segments at once, which is enough when
// they share a part; one by one when they do not. *dst_bits: the destinations or-ed.
template <class T>
template <Kind kind>
Status Runtime<T>::locate_vector(const Segments& segments, int proc, std::uintptr_t* dst_bits) {
  void* const* remotes = kind == Kind::kGet ? segments.src : segments.dst;
  void* const* locals = kind == Kind::kGet ? segments.dst : segments.src;
  if (remotes == nullptr || locals == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument iov: %s is NULL; pass an array of addresses",
                segments.src == nullptr ? "src_ptr_array" : "dst_ptr_array");
  }
  const Part* part = regions_.find(proc, remotes[0], segments.bytes);
  SegmentCheck check{};
  if (part != nullptr) {
    check = check_segments(remotes, locals, segments.count, part->base, part->bytes - segments.bytes);
  }
  *dst_bits = kind == Kind::kGet ? check.local_bits : check.remote_bits;
  if (part != nullptr && check.inside && !check.local_null) [[likely]] {
    return observe_flags == 0 ? kSuccess : observe<kind>(*part->region, segments.bytes * segments.count, proc);
  }
  return locate_segments<kind>(remotes, locals, segments, proc, dst_bits);
}

template <class T>
template <Kind kind>
Status Runtime<T>::locate_segments(void* const* remotes, void* const* locals, const Segments& segments, int proc,
                                   std::uintptr_t* dst_bits) {
  *dst_bits = 0;
  for (std::size_t i = 0; i < segments.count; ++i) {
    if (remotes[i] == nullptr || locals[i] == nullptr) {
      return fail(Code::kNull, "ERR-1", "argument iov: %s[%zu] is NULL; pass the address of a segment",
                  (remotes[i] == nullptr) == (kind == Kind::kGet) ? "src_ptr_array" : "dst_ptr_array", i);
    }
    const Part* part = regions_.find(proc, remotes[i], segments.bytes);
    if (part == nullptr) {
      return bad_address(proc, kind == Kind::kGet ? "src_ptr_array[]" : "dst_ptr_array[]", remotes[i], segments.bytes);
    }
    *dst_bits |= reinterpret_cast<std::uintptr_t>(segments.dst[i]);
    if (observe_flags != 0) ARMCI_RETURN_IF_ERROR(observe<kind>(*part->region, segments.bytes, proc));
  }
  return kSuccess;
}

template <class T>
template <Kind kind>
Status Runtime<T>::vector(const Segments* list, std::size_t length, int proc, How how, const node::AccSpec& acc) {
  ARMCI_RETURN_IF_ERROR(check_proc(proc));
  if constexpr (kind == Kind::kAcc) ARMCI_RETURN_IF_ERROR(check_accumulate(acc, "bytes", 0, nullptr, 0));
  std::uintptr_t dst_bits = 0;
  for (std::size_t d = 0; d < length; ++d) {
    const Segments& segments = list[d];
    if (segments.bytes == 0 || segments.count == 0) continue;
    ARMCI_RETURN_IF_ERROR(locate_vector<kind>(segments, proc, &dst_bits));
    if constexpr (kind == Kind::kAcc) {
      ARMCI_RETURN_IF_ERROR(check_accumulate(acc, "iov[].bytes", segments.bytes, segments.dst[0], dst_bits));
    }
  }
  if ((observe_flags & kObserveCheck) != 0 && kind != Kind::kAcc) check_vector_overlap(list, length);
  for (std::size_t d = 0; observe_flags != 0 && !how.blocking && d < length; ++d) {
    if (list[d].bytes != 0) watch_vector_buffer({how.handle, proc}, kind == Kind::kGet, list[d]);
  }
  // With one descriptor, the usual number, the result of the check is used again.
  return move_vector<kind>(list, length, length == 1 ? dst_bits : node::kUnknownBits, proc, how, acc);
}

template <class T>
template <Kind kind>
Status Runtime<T>::move_vector(const Segments* list, std::size_t length, std::uintptr_t dst_bits, int proc, How how,
                               const node::AccSpec& acc) {
  for (std::size_t d = 0; d < length; ++d) {
    const Segments& segments = list[d];
    if (segments.bytes == 0 || segments.count == 0) continue;
    if (kind != Kind::kAcc && on_node(proc)) {
      std::atomic_thread_fence(std::memory_order_release);
      node::copy_vector(segments.dst, segments.src, segments.count, segments.bytes, dst_bits);
      std::atomic_thread_fence(std::memory_order_acquire);
      continue;
    }
    if (kind == Kind::kAcc && cpu_atomics(proc)) {
      const node::Accumulator accumulator(node::node_memory().accumulate_locks(), acc.type, acc.scale);
      accumulator.add_list(
          segments.count, segments.bytes, [&](std::size_t i) { return segments.dst[i]; },
          [&](std::size_t i) { return segments.src[i]; });
      continue;
    }
    if constexpr (kTakesShapes<kind>) {
      ARMCI_RETURN_IF_ERROR(remote_list<kind>(segments, proc, how, acc));
      continue;
    }
    for (std::size_t i = 0; i < segments.count; ++i) {
      const void* remote = kind == Kind::kGet ? segments.src[i] : segments.dst[i];
      const Part* found = regions_.find(proc, remote, segments.bytes);
      if (found == nullptr) return bad_address(proc, "iov", remote, segments.bytes);
      ARMCI_RETURN_IF_ERROR(
          (move_contiguous<kind>(*found, segments.src[i], segments.dst[i], segments.bytes, proc, how, acc)));
    }
  }
  return kSuccess;
}

template <class T>
template <class Value>
Status Runtime<T>::put_value(Value value, void* dst, int proc) {
  // The parameter is the buffer, so the operation must be locally complete before the call returns.
  return contiguous<Kind::kPut>(&value, dst, sizeof value, proc, kBlocking);
}

template <class T>
template <class Value>
Status Runtime<T>::nb_put_value(Value value, void* dst, int proc) {
  // Most transports copy a short non-blocking put, so wait() returns at once. The others wait here, since the parameter
  // is the buffer.
  armci_hdl_t own = {};
  const Status begun = contiguous<Kind::kPut>(&value, dst, sizeof value, proc, through(&own));
  const Status ended = wait(&own);
  return begun.ok() ? ended : begun;
}

template <class T>
template <class Value>
Status Runtime<T>::get_value(const void* src, int proc, Value* value) {
  return contiguous<Kind::kGet>(src, value, sizeof *value, proc, kBlocking);
}

template <class T>
template <class Word>
Status Runtime<T>::put_flag(Word value, Word* flag, int proc) {
  if constexpr (!kNodeOnly) {
    ARMCI_RETURN_IF_ERROR(check_proc(proc));
    if (!on_node(proc)) ARMCI_RETURN_IF_ERROR(order_after_stores(proc));
  }
  return put_value(value, flag, proc);
}

}  // namespace armci::runtime
