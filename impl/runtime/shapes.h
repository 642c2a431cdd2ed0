// Shapes of data: strided notation in its normal form, its extent, and iteration over its segments.
//
// All totals are 64-bit, also for calls with smaller integers [XFER-8].
//
// Thread safety: plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "impl/base/status.h"

namespace armci::runtime {

// The kind of a transfer.
enum class Kind { kPut, kGet, kAcc };

inline constexpr int kMaxStrideLevels = ARMCI_MAX_STRIDE_LEVEL;

// count[0] is bytes per segment, count[l + 1] how often level l repeats, at its two strides in bytes. A shape that
// moves nothing has count[0] == 0 and levels == 0.
struct Strided {
  int levels;
  std::size_t count[kMaxStrideLevels + 1];
  std::ptrdiff_t src_stride[kMaxStrideLevels];
  std::ptrdiff_t dst_stride[kMaxStrideLevels];

  bool empty() const { return count[0] == 0; }
  std::size_t segments() const {
    std::size_t n = 1;
    for (int l = 1; l <= levels; ++l) n *= count[l];
    return n;
  }
  std::size_t total_bytes() const { return empty() ? 0 : count[0] * segments(); }

  // Drops levels that repeat once, and joins a level to the one below where both sides continue without a gap. The
  // result has the same bytes in the same order, in as few levels as possible.
  void collapse();
};

// Lowest and highest byte that a shape touches, relative to its base address: [low, high).
struct Extent {
  std::ptrdiff_t low;
  std::ptrdiff_t high;
};
// kAddress when the extent does not fit into 64 bits.
Status extent_of(const std::size_t* count, const std::ptrdiff_t* stride, int levels, Extent* extent);

// The frequent shapes, one segment or one level of rows, without the loops; false: not one of them.
template <class Count, class Stride>
bool normalise_rows(const Stride* src_stride, const Stride* dst_stride, const Count* count, int levels,
                    Strided* shape) {
  if (count[0] <= 0 || (levels == 1 && count[1] <= 0)) return false;
  const auto bytes = static_cast<std::size_t>(count[0]);
  const std::size_t rows = levels == 1 ? static_cast<std::size_t>(count[1]) : 1;
  const auto gapless = static_cast<std::ptrdiff_t>(bytes);
  if (rows == 1 || (src_stride[0] == gapless && dst_stride[0] == gapless)) {
    // More than 2^64 bytes without a gap: left as it is, for extent_of to refuse.
    shape->levels = 0;
    if (__builtin_mul_overflow(bytes, rows, &shape->count[0])) return false;
  } else {
    shape->levels = 1;
    shape->count[0] = bytes;
    shape->count[1] = rows;
    shape->src_stride[0] = src_stride[0];
    shape->dst_stride[0] = dst_stride[0];
  }
  return true;
}

// Checks the caller's notation and brings it to the normal form. Count is int or size_t, Stride int or ptrdiff_t.
// NULL stride arrays are legal at level 0.
template <class Count, class Stride>
Status normalise(const Stride* src_stride, const Stride* dst_stride, const Count* count, int levels, Strided* shape) {
  if (levels < 0 || levels > kMaxStrideLevels) [[unlikely]] {
    return fail(Code::kStride, "ERR-1", "argument stride_levels = %d is outside 0..%d; pass the number of strides",
                levels, kMaxStrideLevels);
  }
  if (count == nullptr) [[unlikely]]
    return fail(Code::kNull, "ERR-1", "argument count is NULL; pass an array of stride_levels + 1 counts");
  if (levels > 0 && (src_stride == nullptr || dst_stride == nullptr)) [[unlikely]] {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL with stride_levels = %d; pass an array of strides",
                src_stride == nullptr ? "src_stride" : "dst_stride", levels);
  }
  if (levels <= 1 && normalise_rows(src_stride, dst_stride, count, levels, shape)) {
    return kSuccess;
  }
  bool empty = false;
  shape->levels = levels;
  for (int l = 0; l <= levels; ++l) {
    if constexpr (std::is_signed_v<Count>) {
      if (count[l] < 0) [[unlikely]] {
        return fail(Code::kLength, "ERR-1", "argument count[%d] = %lld is negative; pass 0 or more", l,
                    static_cast<long long>(count[l]));
      }
    }
    shape->count[l] = static_cast<std::size_t>(count[l]);
    empty |= count[l] == 0;
  }
  if (empty) {
    shape->levels = 0;
    shape->count[0] = 0;
    return kSuccess;
  }
  for (int l = 0; l < levels; ++l) {
    shape->src_stride[l] = src_stride[l];
    shape->dst_stride[l] = dst_stride[l];
  }
  shape->collapse();
  return kSuccess;
}

// Whether the segments of one side, whose strides these are, follow each other without gaps.
bool is_dense(const Strided& shape, const std::ptrdiff_t* strides);
// The same for segments of `bytes` each at these addresses.
bool is_dense(const void* const* places, std::size_t count, std::size_t bytes);

// Calls visit(src_offset, dst_offset) for `count` segments from the first-th on, in the order of the loop nest with
// level 0 innermost.
template <class Visit>
void for_segment_range(const Strided& shape, std::size_t first, std::size_t count, Visit visit) {
  std::size_t index[kMaxStrideLevels] = {};
  std::ptrdiff_t src = 0;
  std::ptrdiff_t dst = 0;
  for (int l = 0; first > 0 && l < shape.levels; ++l) {
    index[l] = first % shape.count[l + 1];
    first /= shape.count[l + 1];
    src += static_cast<std::ptrdiff_t>(index[l]) * shape.src_stride[l];
    dst += static_cast<std::ptrdiff_t>(index[l]) * shape.dst_stride[l];
  }
  for (; count > 0; --count) {
    visit(src, dst);
    for (int l = 0; l < shape.levels; ++l) {
      src += shape.src_stride[l];
      dst += shape.dst_stride[l];
      if (++index[l] < shape.count[l + 1]) break;
      src -= shape.src_stride[l] * static_cast<std::ptrdiff_t>(shape.count[l + 1]);
      dst -= shape.dst_stride[l] * static_cast<std::ptrdiff_t>(shape.count[l + 1]);
      index[l] = 0;
    }
  }
}

// The same for runs of segments that are the lowest level's stride apart: visit(src, dst, segments). Precondition:
// count > 0.
template <class Visit>
void for_run_range(const Strided& shape, std::size_t first, std::size_t count, Visit visit) {
  if (shape.levels == 0) return visit(std::ptrdiff_t{0}, std::ptrdiff_t{0}, count);
  Strided runs{shape.levels - 1, {}, {}, {}};
  for (int l = 0; l < runs.levels; ++l) {
    runs.count[l + 1] = shape.count[l + 2];
    runs.src_stride[l] = shape.src_stride[l + 1];
    runs.dst_stride[l] = shape.dst_stride[l + 1];
  }
  const std::size_t length = shape.count[1];
  std::size_t skipped = first % length;
  for_segment_range(runs, first / length, (skipped + count - 1) / length + 1,
                    [&](std::ptrdiff_t src, std::ptrdiff_t dst) {
                      const std::size_t now = std::min(count, length - skipped);
                      const auto from = static_cast<std::ptrdiff_t>(skipped);
                      visit(src + from * shape.src_stride[0], dst + from * shape.dst_stride[0], now);
                      count -= now;
                      skipped = 0;
                    });
}

// As for_segment_range(), for every segment.
template <class Visit>
void for_each_segment(const Strided& shape, Visit visit) {
  if (!shape.empty()) for_segment_range(shape, 0, shape.segments(), visit);
}

// One descriptor of a vector call, whichever struct the caller used.
struct Segments {
  void* const* src;
  void* const* dst;
  std::size_t bytes;
  std::size_t count;
};

}  // namespace armci::runtime
