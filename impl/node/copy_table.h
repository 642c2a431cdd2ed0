// The copy kernels of one instruction set and the means to force one, private to the copy files and their tests.

#ifndef IMPL_NODE_COPY_TABLE_H_
#define IMPL_NODE_COPY_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "impl/node/copy.h"

namespace armci::node::internal {

// Copies the body of a long copy: dst and bytes are multiples of 8, bytes is at least kBodyBytesMin.
using BodyKernel = void (*)(char* dst, const char* src, size_t bytes) noexcept;
inline constexpr size_t kBodyBytesMin = 128;
inline constexpr size_t kBriefBytesMax = 511;

// Copies `rows` segments of `bytes` each at fixed distances.
using RowsKernel = void (*)(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows,
                            size_t bytes) noexcept;

// Copies `bytes` at `offset` of each of `segments` segments.
using VectorKernel = void (*)(void* const* dst, const void* const* src, size_t segments, size_t offset,
                              size_t bytes) noexcept;

struct CopyTable {
  BodyKernel brief;      // up to kBriefBytesMax
  BodyKernel forward;    // ascending addresses
  BodyKernel backward;   // descending: when the destination lies just ahead modulo a page, ascending loads seem to
                         // depend on the stores before them (the CPU compares 12 address bits)
  BodyKernel streaming;  // ascending, past the caches
  // Kernels for segments of `bytes`, a multiple of 8 from 8 to kCopiedSegmentBytesMax, all destinations multiples of 8.
  // rows() also knows multiples of 4 up to kRowBytesFine.
  RowsKernel rows(size_t bytes) const noexcept {
    return bytes <= kRowBytesFine ? rows_exact[bytes / 4 - 1] : bytes < kBodySegmentBytesMin ? rows_blocks : rows_body;
  }
  VectorKernel vector(size_t bytes) const noexcept {
    return bytes <= kVectorBytesFine      ? vector_exact[bytes / 8 - 1]
           : bytes < kBodySegmentBytesMin ? vector_blocks
                                          : vector_body;
  }

  static constexpr size_t kRowBytesFine = 256;
  static constexpr size_t kVectorBytesFine = 128;
  static constexpr size_t kBodySegmentBytesMin = 512;
  const RowsKernel* rows_exact;      // by bytes / 4 - 1
  const VectorKernel* vector_exact;  // by bytes / 8 - 1
  RowsKernel rows_blocks, rows_body;
  VectorKernel vector_blocks, vector_body;
};
inline constexpr size_t kCopiedSegmentBytesMax = 2048;

// kCopySse2.forward, for initialisation at compile time.
void sse2_body(char* dst, const char* src, size_t bytes) noexcept;

extern const CopyTable kCopySse2;
extern const CopyTable kCopyAvx2;
extern const CopyTable kCopyAvx512;

// The instruction sets, worst first.
enum class CopyLevel : int { kSse2 = 0, kAvx2 = 1, kAvx512 = 2 };
inline constexpr int kCopyLevels = 3;

// The kernels of one instruction set, or nullptr where this CPU lacks it.
const CopyTable* copy_table(CopyLevel level) noexcept;

// The level chosen for this CPU before any measurement.
CopyLevel best_copy_level() noexcept;

// The body kernels copy_initialise() chooses from.  `index` from 0; nullptr where this CPU lacks the kernel.
inline constexpr int kBodyCandidates = 3 * kCopyLevels + 1;
inline constexpr int kStringCandidate = kBodyCandidates - 1;
constexpr bool is_streaming(int index) { return index != kStringCandidate && index % 3 == 2; }
BodyKernel body_candidate(int index) noexcept;
const char* body_candidate_name(int index) noexcept;

// The kernel that copy() uses at present for the body of such a copy.
BodyKernel chosen_copy_body(const char* dst, const char* src, size_t bytes) noexcept;

// Copies any number of bytes with the given kernel for the body.
void copy_with(BodyKernel body, char* dst, const char* src, size_t bytes) noexcept;

// Segments of any size and alignment, with the given kernels where they apply.
struct SegmentTables {
  const CopyTable* near;  // where most segments are in the first-level cache
  const CopyTable* far;   // where most are not
};
void copy_strided_with(const SegmentTables& tables, char* dst, const ptrdiff_t* dst_stride, const char* src,
                       const ptrdiff_t* src_stride, const size_t* count, int levels) noexcept;
struct Rows {
  char* dst;
  ptrdiff_t dst_stride;
  const char* src;
  ptrdiff_t src_stride;
  size_t rows;
  size_t bytes;
};
void copy_rows_with(const SegmentTables& tables, const Rows& rows) noexcept;
void copy_vector_with(const SegmentTables& tables, void* const* dst, const void* const* src, size_t segments,
                      size_t bytes, uintptr_t dst_bits = kUnknownBits) noexcept;

// Copies less than 8 bytes so that the destination gets aligned to 8, as far as `bytes` reaches; returns how many.
inline size_t copy_head(char* dst, const char* src, size_t bytes) noexcept {
  const auto to = [&](size_t done) { return reinterpret_cast<uintptr_t>(dst) + done; };
  size_t done = 0;
  if ((to(done) & 1) != 0 && bytes - done >= 1) {
    move<uint8_t>(dst + done, src + done);
    done += 1;
  }
  if ((to(done) & 2) != 0 && bytes - done >= 2) {
    move<uint16_t>(dst + done, src + done);
    done += 2;
  }
  if ((to(done) & 4) != 0 && bytes - done >= 4) {
    move<uint32_t>(dst + done, src + done);
    done += 4;
  }
  return done;
}

// Copies the last bytes % 8 bytes of a copy whose other bytes are done.
inline void copy_tail(char* dst, const char* src, size_t bytes) noexcept {
  size_t done = bytes & ~size_t{7};
  if ((bytes & 4) != 0) {
    move<uint32_t>(dst + done, src + done);
    done += 4;
  }
  if ((bytes & 2) != 0) {
    move<uint16_t>(dst + done, src + done);
    done += 2;
  }
  if ((bytes & 1) != 0) move<uint8_t>(dst + done, src + done);
}

// Copies any number of bytes up to kInlineBytes at any alignment.
inline void copy_short(char* dst, const char* src, size_t bytes) noexcept {
  if ((reinterpret_cast<uintptr_t>(dst) & 7) != 0) {
    const size_t head = copy_head(dst, src, bytes);
    dst += head;
    src += head;
    bytes -= head;
  }
  copy_words(dst, src, bytes & ~size_t{7});
  if ((bytes & 7) != 0) copy_tail(dst, src, bytes);
}

}  // namespace armci::node::internal

#endif  // IMPL_NODE_COPY_TABLE_H_
