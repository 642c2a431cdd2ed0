// Copy kernels for every x86-64 CPU (SSE2).

#include <immintrin.h>

#include <array>
#include <utility>

#include "impl/node/copy_loop.h"
#include "impl/node/copy_table.h"

namespace armci::node::internal {
namespace {

struct Sse2 {
  static constexpr size_t kVectorBytes = 16;

  static void stream(char* to, Chunk<Sse2, kVectorBytes>::Value value) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
  }
};

}  // namespace

void sse2_body(char* dst, const char* src, size_t bytes) noexcept { body_forward<Sse2>(dst, src, bytes); }

constinit const CopyTable kCopySse2 = copy_table_of<Sse2>();

}  // namespace armci::node::internal
