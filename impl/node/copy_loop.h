// The loops of the copy kernels, for any vector width.
//
// Each copy_<instruction set>.cc includes this file inside its target pragma. It instantiates the templates with a type
// of its own anonymous namespace, so the instances are local to that file. The linker can then never merge code for a
// newer CPU into a baseline caller.  For the same reason nothing else with inline functions is included here.
//
// `Isa` has the constant kVectorBytes and stream(to, vector), a non-temporal store.

#ifndef IMPL_NODE_COPY_LOOP_H_
#define IMPL_NODE_COPY_LOOP_H_

#include <emmintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "impl/node/copy_table.h"

namespace armci::node::internal {

// A vector of kBytes, or an integer of 8 or 4, that can be loaded and stored at any address.
template <typename Isa, size_t kBytes>
struct Chunk {
  typedef long long Value __attribute__((vector_size(kBytes)));
  typedef long long Anywhere __attribute__((vector_size(kBytes), aligned(1), may_alias));

  static Value load(const char* from) { return *reinterpret_cast<const Anywhere*>(from); }
  static void store(char* to, Value value) { *reinterpret_cast<Anywhere*>(to) = value; }
};

template <typename Isa>
struct Chunk<Isa, 8> {
  typedef uint64_t Value;
  typedef uint64_t Anywhere __attribute__((aligned(1), may_alias));

  static Value load(const char* from) { return *reinterpret_cast<const Anywhere*>(from); }
  static void store(char* to, Value value) { *reinterpret_cast<Anywhere*>(to) = value; }
};

template <typename Isa>
struct Chunk<Isa, 4> {
  typedef uint32_t Value;
  typedef uint32_t Anywhere __attribute__((aligned(1), may_alias));

  static Value load(const char* from) { return *reinterpret_cast<const Anywhere*>(from); }
  static void store(char* to, Value value) { *reinterpret_cast<Anywhere*>(to) = value; }
};

// The widest chunk for a segment of `bytes`.
template <typename Isa>
constexpr size_t chunk_bytes(size_t bytes) {
  size_t chunk = 4;
  while (2 * chunk <= bytes && 2 * chunk <= Isa::kVectorBytes) chunk *= 2;
  return chunk;
}

// Stores a chunk and advances.  The compiler may not swap two of these: CPUs join ascending stores to a line.
template <typename Isa, typename Value>
inline __attribute__((always_inline)) void store_next(char*& dst, Value value) {
  Chunk<Isa, sizeof(Value)>::store(dst, value);
  dst += sizeof(Value);
  __asm__ volatile("" : : : "memory");
}

// Copies exactly kBytes, a multiple of 4, in chunks of falling size: up to eight loads and then their stores,
// ascending. `loaded` are the chunks loaded so far, which belong before dst and src.
template <typename Isa, size_t kBytes, typename... Loaded>
inline __attribute__((always_inline)) void move_exactly(char* dst, const char* src, Loaded... loaded) {
  static_assert(kBytes % 4 == 0);
  if constexpr (kBytes == 0 || sizeof...(Loaded) == 8) {
    dst -= (sizeof(Loaded) + ... + 0);
    (store_next<Isa>(dst, loaded), ...);
    if constexpr (kBytes != 0) move_exactly<Isa, kBytes>(dst, src);
  } else {
    constexpr size_t kChunk = chunk_bytes<Isa>(kBytes);
    const auto value = Chunk<Isa, kChunk>::load(src);
    move_exactly<Isa, kBytes - kChunk>(dst + kChunk, src + kChunk, loaded..., value);
  }
}

// ---- Bodies of long copies

// Stores of the loops are of whole lines, and no byte is written twice (see copy.h). That costs nothing. Rewriting the
// last bytes of a copy costs more than a few small moves, because the next copy's loads read from those stores.

inline constexpr size_t kLine = 64;

// Copies the part of `bytes` below one line, a multiple of 8, in moves of falling size.
template <typename Isa>
inline void move_falling(char* dst, const char* src, size_t bytes) {
  if ((bytes & 32) != 0) {
    move_exactly<Isa, 32>(dst, src);
    dst += 32;
    src += 32;
  }
  if ((bytes & 16) != 0) {
    move_exactly<Isa, 16>(dst, src);
    dst += 16;
    src += 16;
  }
  if ((bytes & 8) != 0) move_exactly<Isa, 8>(dst, src);
}

// The same in moves of rising size, aligned when the end of the part is aligned.
template <typename Isa>
inline void move_rising(char* dst, const char* src, size_t bytes) {
  if ((bytes & 8) != 0) {
    move_exactly<Isa, 8>(dst, src);
    dst += 8;
    src += 8;
  }
  if ((bytes & 16) != 0) {
    move_exactly<Isa, 16>(dst, src);
    dst += 16;
    src += 16;
  }
  if ((bytes & 32) != 0) move_exactly<Isa, 32>(dst, src);
}

inline size_t bytes_to_line(const char* address) { return -reinterpret_cast<uintptr_t>(address) & (kLine - 1); }
inline size_t bytes_into_line(const char* address) { return reinterpret_cast<uintptr_t>(address) & (kLine - 1); }

template <typename Isa>
void body_forward(char* dst, const char* src, size_t bytes) noexcept {
  constexpr size_t kBlock = 4 * kLine;
  const size_t head = bytes_to_line(dst);
  move_rising<Isa>(dst, src, head);
  dst += head;
  src += head;
  bytes -= head;
  for (; bytes >= kBlock; bytes -= kBlock, dst += kBlock, src += kBlock) move_exactly<Isa, kBlock>(dst, src);
  for (; bytes >= kLine; bytes -= kLine, dst += kLine, src += kLine) move_exactly<Isa, kLine>(dst, src);
  move_falling<Isa>(dst, src, bytes);
}

// Up to 512 bytes, not aligned further.
template <typename Isa>
void body_brief(char* dst, const char* src, size_t bytes) noexcept {
  constexpr size_t kLong = 2 * kLine;
  for (; bytes >= kLong; bytes -= kLong, dst += kLong, src += kLong) move_exactly<Isa, kLong>(dst, src);
  if (bytes >= kLine) {
    move_exactly<Isa, kLine>(dst, src);
    dst += kLine;
    src += kLine;
  }
  move_falling<Isa>(dst, src, bytes % kLine);
}

template <typename Isa>
void body_backward(char* dst, const char* src, size_t bytes) noexcept {
  constexpr size_t kBlock = 4 * kLine;
  const size_t head = bytes_into_line(dst + bytes);
  bytes -= head;
  move_falling<Isa>(dst + bytes, src + bytes, head);
  for (; bytes >= kBlock; bytes -= kBlock) move_exactly<Isa, kBlock>(dst + bytes - kBlock, src + bytes - kBlock);
  for (; bytes >= kLine; bytes -= kLine) move_exactly<Isa, kLine>(dst + bytes - kLine, src + bytes - kLine);
  move_rising<Isa>(dst, src, bytes);
}

// Non-temporal stores of whole lines.  Memory ordering: they are weakly ordered with all other stores, so they are
// fenced from the earlier ones and from the later ones.
template <typename Isa>
void body_streaming(char* dst, const char* src, size_t bytes) noexcept {
  constexpr size_t kVector = Isa::kVectorBytes;
  constexpr size_t kBlock = 2 * kLine;
  constexpr size_t kPrefetchBytes = 2048;
  const size_t head = bytes_to_line(dst);
  move_rising<Isa>(dst, src, head);
  dst += head;
  src += head;
  bytes -= head;
  _mm_sfence();
  for (; bytes >= kBlock; bytes -= kBlock, dst += kBlock, src += kBlock) {
    _mm_prefetch(src + kPrefetchBytes, _MM_HINT_T0);
    _mm_prefetch(src + kPrefetchBytes + kLine, _MM_HINT_T0);
    typename Chunk<Isa, kVector>::Value values[kBlock / kVector];
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlock / kVector; ++i) values[i] = Chunk<Isa, kVector>::load(src + i * kVector);
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlock / kVector; ++i) Isa::stream(dst + i * kVector, values[i]);
  }
  _mm_sfence();
  if (bytes >= kLine) move_exactly<Isa, kLine>(dst, src);
  const size_t tail = bytes % kLine;
  move_falling<Isa>(dst + bytes - tail, src + bytes - tail, tail);
}

// ---- Segments

// Movers copy one segment that begins at a multiple of 8.  Its size is a multiple of 4 for Exactly, of 8 for the
// others.

template <typename Isa, size_t kBytes>
struct Exactly {
  // Not with the narrow vectors, whose loops serve the rows beyond the first-level cache: such rows are slower in tight
  // loops.
  static constexpr bool kUnrolled = kBytes <= 32 && Isa::kVectorBytes > 16;
  static void run(char* dst, const char* src, size_t) { move_exactly<Isa, kBytes>(dst, src); }
};

// Any size, in whole lines if the segment begins on one.
template <typename Isa>
struct Blocks {
  static constexpr bool kUnrolled = false;
  static void run(char* dst, const char* src, size_t bytes) {
    for (; bytes >= kLine; bytes -= kLine, dst += kLine, src += kLine) move_exactly<Isa, kLine>(dst, src);
    move_falling<Isa>(dst, src, bytes);
  }
};

// kBodyBytesMin or more, with the stores aligned.
template <typename Isa>
struct Body {
  static constexpr bool kUnrolled = false;
  static void run(char* dst, const char* src, size_t bytes) { body_forward<Isa>(dst, src, bytes); }
};

template <typename Mover>
void rows_loop(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows,
               size_t bytes) noexcept {
  if constexpr (Mover::kUnrolled) {
    for (; rows >= 4; rows -= 4, dst += 4 * dst_stride, src += 4 * src_stride) {
      Mover::run(dst, src, bytes);
      Mover::run(dst + dst_stride, src + src_stride, bytes);
      Mover::run(dst + 2 * dst_stride, src + 2 * src_stride, bytes);
      Mover::run(dst + 3 * dst_stride, src + 3 * src_stride, bytes);
    }
  }
  for (; rows != 0; --rows, dst += dst_stride, src += src_stride) Mover::run(dst, src, bytes);
}

template <typename Mover>
void vector_loop(void* const* dst, const void* const* src, size_t segments, size_t offset, size_t bytes) noexcept {
  for (size_t i = 0; i < segments; ++i) {
    Mover::run(static_cast<char*>(dst[i]) + offset, static_cast<const char*>(src[i]) + offset, bytes);
  }
}

// The loops for segments of kStep, 2 * kStep, ... bytes.
template <typename Isa, typename Pick, size_t kStep, size_t... kSteps>
constexpr auto exact_loops(std::index_sequence<kSteps...>) {
  return std::array{Pick::template loop<Exactly<Isa, kStep*(kSteps + 1)>>()...};
}

struct PickRows {
  template <typename Mover>
  static constexpr RowsKernel loop() {
    return &rows_loop<Mover>;
  }
};

struct PickVector {
  template <typename Mover>
  static constexpr VectorKernel loop() {
    return &vector_loop<Mover>;
  }
};

template <typename Isa>
inline constexpr auto kExactRows =
    exact_loops<Isa, PickRows, 4>(std::make_index_sequence<CopyTable::kRowBytesFine / 4>());
template <typename Isa>
inline constexpr auto kExactVectors =
    exact_loops<Isa, PickVector, 8>(std::make_index_sequence<CopyTable::kVectorBytesFine / 8>());

template <typename Isa>
constexpr CopyTable copy_table_of() {
  return {&body_brief<Isa>,
          &body_forward<Isa>,
          &body_backward<Isa>,
          &body_streaming<Isa>,
          kExactRows<Isa>.data(),
          kExactVectors<Isa>.data(),
          PickRows::loop<Blocks<Isa>>(),
          PickRows::loop<Body<Isa>>(),
          PickVector::loop<Blocks<Isa>>(),
          PickVector::loop<Body<Isa>>()};
}

}  // namespace armci::node::internal

#endif  // IMPL_NODE_COPY_LOOP_H_
