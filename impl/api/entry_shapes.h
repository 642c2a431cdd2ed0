// Shared parts of the entry points of transfers, for int and for 64-bit arguments. Included by entry_*.cc only.
#pragma once

#include "impl/api/entry.h"
#include "impl/runtime/giov.h"

namespace armci::runtime::api {

inline node::AccSpec acc_spec(int datatype, const void* scale) { return {static_cast<node::AccType>(datatype), scale}; }

template <Kind kind, class Count, class Stride>
Status strided(const void* src, const Stride* src_stride, void* dst, const Stride* dst_stride, const Count* count,
               int stride_levels, int proc, How how, const node::AccSpec& acc = node::kNoAccumulate) {
  if constexpr (kind != Kind::kAcc) {
    const bool rows = stride_levels == 1 && src_stride != nullptr && dst_stride != nullptr && count != nullptr;
    if (rows && count[0] > 0 && count[1] > 0 &&
        runtime().move_rows<kind>(src, src_stride[0], dst, dst_stride[0], static_cast<std::size_t>(count[0]),
                                  static_cast<std::size_t>(count[1]), proc)) {
      return kSuccess;
    }
  }
  Strided shape;
  ARMCI_RETURN_IF_ERROR(normalise(src_stride, dst_stride, count, stride_levels, &shape));
  return runtime().strided<kind>(src, dst, shape, proc, how, acc);
}

template <Kind kind, class Giov, class Length>
Status vector(const Giov* iov, Length len, int proc, How how, const node::AccSpec& acc = node::kNoAccumulate) {
  SegmentList list;
  ARMCI_RETURN_IF_ERROR(list.assign(iov, len));
  return runtime().vector<kind>(list.data(), list.size(), proc, how, acc);
}

}  // namespace armci::runtime::api
