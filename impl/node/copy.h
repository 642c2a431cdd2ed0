// Copies between places in node memory, or between node memory and any other.
//
// Elements (LC-3).  Only stores that cover all of a naturally aligned 4- or 8-byte element of the destination write it,
// so no other process sees half of one. Where the source element is naturally aligned as well, it is read whole. memcpy
// promises neither, and its overlapping moves at the ends do mix two reads of one element. So memcpy is no candidate
// here.  Five rules give the property:
//   - a copy is split into a head of less than 8 bytes up to an 8-byte boundary of the destination, a body, and a tail
//     of less than 8 bytes; head and tail go in moves of 1, 2 and 4 bytes, each aligned at the destination;
//   - moves of the body begin at multiples of 8 bytes and are 8 bytes or more;
//   - moves never overlap: an element is written once, since another process's store or RMW between two writes of one
//     value would be undone by the second (LC-1, RMW-2);
//   - a copy of exactly 4 or 8 bytes is one move at any alignment;
//   - CPUs split an access at multiples of its address plus a power of two of 16 or more, or at lines: between
//     elements, never inside one.
//
// Memory ordering: the stores of a copy are ordered after all earlier stores of the calling thread and before all later
// ones (ORD-1), as x86-64 orders plain stores; where a copy uses non-temporal stores it issues a store fence before and
// after them.  Nothing is said about the order of the bytes of one copy.  No copy orders later loads: that is what the
// fence calls are for.
//
// Thread safety: all functions may be called by any number of threads, copy_initialise() included.

#ifndef IMPL_NODE_COPY_H_
#define IMPL_NODE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace armci::node {

namespace internal {

// One load, and one store, of exactly sizeof(T) bytes at any address.
template <typename T>
inline T load_at(const char* address) noexcept {
  typedef T Anywhere __attribute__((aligned(1), may_alias));
  return *reinterpret_cast<const Anywhere*>(address);
}
template <typename T>
inline void store_at(char* address, T value) noexcept {
  typedef T Anywhere __attribute__((aligned(1), may_alias));
  *reinterpret_cast<Anywhere*>(address) = value;
}
template <typename T>
inline void move(char* dst, const char* src) noexcept {
  store_at(dst, load_at<T>(src));
}

typedef long long Block16 __attribute__((vector_size(16)));

// Copies kBytes, a multiple of 16: all loads, then the stores.
template <size_t kBytes>
inline void move_blocks(char* dst, const char* src) noexcept {
  Block16 blocks[kBytes / 16];
#pragma GCC unroll 8
  for (size_t i = 0; i < kBytes / 16; ++i) blocks[i] = load_at<Block16>(src + 16 * i);
#pragma GCC unroll 8
  for (size_t i = 0; i < kBytes / 16; ++i) store_at(dst + 16 * i, blocks[i]);
}

// Copies `bytes`, a multiple of 8 up to kInlineBytes, to a multiple of 8.
inline constexpr size_t kInlineBytes = 128;
inline void copy_words(char* dst, const char* src, size_t bytes) noexcept {
  if (bytes == 8) {
    move<uint64_t>(dst, src);
    return;
  }
  const auto step = [&](auto mover, size_t size) {
    mover(dst, src);
    dst += size;
    src += size;
  };
  if (bytes >= 64) {
    step(&move_blocks<64>, 64);
    bytes -= 64;
    if (bytes == 64) return move_blocks<64>(dst, src);
  }
  if ((bytes & 32) != 0) step(&move_blocks<32>, 32);
  if ((bytes & 16) != 0) step(&move_blocks<16>, 16);
  if ((bytes & 8) != 0) move<uint64_t>(dst, src);
}

// Any copy, for the cases copy() does not have inline.
void copy_any(char* dst, const char* src, size_t bytes) noexcept;

}  // namespace internal

// Copies `bytes` from src to dst.  The two may be the same; overlapping in any other way they leave the destination
// unspecified, but nothing outside it is written.  Up to 128 bytes of whole 8-byte elements are copied without a call.
inline void copy(void* dst, const void* src, size_t bytes) noexcept {
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  if (((reinterpret_cast<uintptr_t>(dst) | bytes) & 7) == 0 && bytes <= internal::kInlineBytes) {
    internal::copy_words(to, from, bytes);
  } else if (bytes == 4) {
    internal::move<uint32_t>(to, from);
  } else if (bytes == 8) {
    internal::move<uint64_t>(to, from);
  } else {
    internal::copy_any(to, from, bytes);
  }
}

// Chooses the copy kernels for this CPU, by a measurement of about six milliseconds.  Copies work before it too, with
// kernels for any CPU.  A repeated call measures again.
void copy_initialise() noexcept;

// The chosen kernels, as one line of text.
std::string copy_report();

// Copies a strided block: count[0] bytes per segment, count[l + 1] segments at level l, whose distances are
// dst_stride[l] and src_stride[l] bytes (any sign; unused, so possibly NULL, at levels = 0).  levels is at most 8.
// A zero count anywhere is a copy of nothing.  Levels that collapse are best collapsed by the caller.
void copy_strided(char* dst, const ptrdiff_t* dst_stride, const char* src, const ptrdiff_t* src_stride,
                  const size_t* count, int levels) noexcept;

// The same with one level: `rows` segments of `bytes`, at least one.
void copy_rows(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows,
               size_t bytes) noexcept;

// Copies `segments` segments of `bytes` each, from src[i] to dst[i].  dst_bits are all dst[i] or-ed, if the caller
// has computed them, or kUnknownBits.
inline constexpr uintptr_t kUnknownBits = UINTPTR_MAX;
void copy_vector(void* const* dst, const void* const* src, size_t segments, size_t bytes,
                 uintptr_t dst_bits = kUnknownBits) noexcept;

}  // namespace armci::node

#endif  // IMPL_NODE_COPY_H_
