// Strided and vector copies: the loop nest around the segment kernels.

#include <algorithm>

#include "impl/node/copy_table.h"

namespace armci::node::internal {
namespace {

constexpr int kLevelsMax = 8;

template <typename T>
void copy_column(const Rows& r, size_t offset) noexcept {
  char* dst = r.dst + offset;
  const char* src = r.src + offset;
  for (size_t i = 0; i < r.rows; ++i) {
    move<T>(dst, src);
    dst += r.dst_stride;
    src += r.src_stride;
  }
}

template <typename T>
void copy_element(void* const* dst, const void* const* src, size_t segments, size_t offset) noexcept {
  for (size_t i = 0; i < segments; ++i) {
    move<T>(static_cast<char*>(dst[i]) + offset, static_cast<const char*>(src[i]) + offset);
  }
}

// Cuts `bytes` at a destination that lies `phase` bytes behind a multiple of 8, as copy_short() does. The parts are
// elements of 1, 2 and 4 bytes, a middle of multiples of `step`, and the rest in elements of 4, 2 and 1.  Calls part(T,
// offset) and middle(offset, bytes).
template <typename Part, typename Middle>
void cut(size_t phase, size_t bytes, size_t step, Part part, Middle middle) noexcept {
  size_t done = 0;
  const auto take = [&](auto element) {
    part(element, done);
    done += sizeof(element);
  };
  if (((phase + done) & 1) != 0 && bytes - done >= 1) take(uint8_t{});
  if (((phase + done) & 2) != 0 && bytes - done >= 2) take(uint16_t{});
  if (((phase + done) & 4) != 0 && bytes - done >= 4) take(uint32_t{});
  const size_t whole = (bytes - done) / step * step;
  if (whole != 0) middle(done, whole);
  done += whole;
  const size_t tail = bytes - done;
  if ((tail & 4) != 0) take(uint32_t{});
  if ((tail & 2) != 0) take(uint16_t{});
  if ((tail & 1) != 0) take(uint8_t{});
}

// Rows whose destinations all lie alike to multiples of 8.  The two ends of the rows that are no whole 8-byte elements
// are copied as columns of their own. So the loops over the rows have no branches.
void copy_alike_rows(const CopyTable& table, const Rows& r) noexcept {
  cut(
      reinterpret_cast<uintptr_t>(r.dst) % 8, r.bytes, r.bytes <= CopyTable::kRowBytesFine ? 4 : 8,
      [&](auto element, size_t offset) { copy_column<decltype(element)>(r, offset); },
      [&](size_t offset, size_t bytes) {
        table.rows(bytes)(r.dst + offset, r.dst_stride, r.src + offset, r.src_stride, r.rows, bytes);
      });
}

// Any rows: groups that stay in the cache from column to column, each split into the 1, 2, 4 or 8 sets of rows that lie
// alike.
void copy_unlike_rows(const CopyTable& table, const Rows& all) noexcept {
  constexpr size_t kGroupRows = 32;
  const auto step = static_cast<uintptr_t>(all.dst_stride) % 8;
  const size_t sets = step == 0 ? 1 : step % 2 != 0 ? 8 : step == 4 ? 2 : 4;
  for (size_t first = 0; first < all.rows; first += kGroupRows) {
    const size_t last = std::min(all.rows, first + kGroupRows);
    for (size_t row = first; row < std::min(last, first + sets); ++row) {
      const auto index = static_cast<ptrdiff_t>(row);
      const auto stride = static_cast<ptrdiff_t>(sets);
      copy_alike_rows(table,
                      {all.dst + index * all.dst_stride, stride * all.dst_stride, all.src + index * all.src_stride,
                       stride * all.src_stride, (last - row + sets - 1) / sets, all.bytes});
    }
  }
}

constexpr size_t kL1Bytes = 32 << 10, kL1WayBytes = 4096, kLineBytes = 64;

// True if rows at this distance compete for few sets of the first-level cache.
bool crowded(ptrdiff_t stride, size_t rows) noexcept {
  const auto distance = static_cast<size_t>(stride);
  const size_t step = std::min(distance & -distance, kL1WayBytes);  // the largest power of two that divides it
  return rows * step > kL1Bytes;
}

// True if most rows miss the first-level cache.  Then each is best touched once, by a loop that is not too tight. Of
// too many outstanding stores to the same sets of the cache, each takes the line that another waits for.
bool beyond_first_cache(size_t segments, size_t bytes) noexcept {
  return 2 * segments * std::max(bytes, kLineBytes) > kL1Bytes;
}
bool beyond_first_cache(const Rows& r) noexcept {
  return beyond_first_cache(r.rows, r.bytes) || crowded(r.dst_stride, r.rows) || crowded(r.src_stride, r.rows);
}

void copy_each_row(const Rows& r) noexcept {
  char* dst = r.dst;
  const char* src = r.src;
  for (size_t i = 0; i < r.rows; ++i, dst += r.dst_stride, src += r.src_stride) copy(dst, src, r.bytes);
}

// How far all addresses lie behind a multiple of 8, or 8 if they differ in that.
size_t common_phase(void* const* addresses, size_t number) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(addresses[0]);
  uintptr_t differ[4] = {};
  size_t i = 0;
  for (; i + 4 <= number; i += 4) {
    for (size_t k = 0; k < 4; ++k) differ[k] |= first ^ reinterpret_cast<uintptr_t>(addresses[i + k]);
  }
  for (; i < number; ++i) differ[0] |= first ^ reinterpret_cast<uintptr_t>(addresses[i]);
  return (differ[0] | differ[1] | differ[2] | differ[3]) % 8 == 0 ? first % 8 : 8;
}

}  // namespace

void copy_rows_with(const SegmentTables& tables, const Rows& r) noexcept {
  constexpr size_t kRowsMin = 8;
  const auto start = reinterpret_cast<uintptr_t>(r.dst) | static_cast<uintptr_t>(r.dst_stride);
  const bool whole = r.bytes == 8 || (start % 8 == 0 && r.bytes % (r.bytes <= CopyTable::kRowBytesFine ? 4 : 8) == 0);
  if (r.bytes > kCopiedSegmentBytesMax) {
    copy_each_row(r);
  } else if (whole) {
    const CopyTable& table = beyond_first_cache(r) ? *tables.far : *tables.near;
    table.rows(r.bytes)(r.dst, r.dst_stride, r.src, r.src_stride, r.rows, r.bytes);
  } else if (r.bytes == 4) {
    copy_column<uint32_t>(r, 0);
  } else if (r.bytes <= CopyTable::kRowBytesFine && r.rows >= kRowsMin && !beyond_first_cache(r)) {
    copy_unlike_rows(*tables.near, r);
  } else {
    copy_each_row(r);
  }
}

void copy_strided_with(const SegmentTables& tables, char* dst, const ptrdiff_t* dst_stride, const char* src,
                       const ptrdiff_t* src_stride, const size_t* count, int levels) noexcept {
  const size_t bytes = count[0];
  for (int level = 0; level <= levels; ++level) {
    if (count[level] == 0) return;
  }
  if (levels == 0) {
    copy(dst, src, bytes);
    return;
  }
  if (levels == 1) {
    copy_rows_with(tables, {dst, dst_stride[0], src, src_stride[0], count[1], bytes});
    return;
  }
  size_t index[kLevelsMax] = {};
  for (;;) {
    copy_rows_with(tables, {dst, dst_stride[0], src, src_stride[0], count[1], bytes});
    int level = 1;
    for (; level < levels; ++level) {
      dst += dst_stride[level];
      src += src_stride[level];
      if (++index[level] < count[level + 1]) break;
      dst -= dst_stride[level] * static_cast<ptrdiff_t>(count[level + 1]);
      src -= src_stride[level] * static_cast<ptrdiff_t>(count[level + 1]);
      index[level] = 0;
    }
    if (level == levels) return;
  }
}

void copy_vector_with(const SegmentTables& tables, void* const* dst, const void* const* src, size_t segments,
                      size_t bytes, uintptr_t dst_bits) noexcept {
  if (segments == 0) return;
  const size_t phase = bytes == 8 || dst_bits % 8 == 0 ? 0 : common_phase(dst, segments);
  if (phase == 8 || bytes > kCopiedSegmentBytesMax) {
    for (size_t i = 0; i < segments; ++i) copy(dst[i], src[i], bytes);
    return;
  }
  const CopyTable& table = beyond_first_cache(segments, bytes) ? *tables.far : *tables.near;
  cut(
      phase, bytes, 8,
      [&](auto element, size_t offset) { copy_element<decltype(element)>(dst, src, segments, offset); },
      [&](size_t offset, size_t words) { table.vector(words)(dst, src, segments, offset, words); });
}

}  // namespace armci::node::internal
