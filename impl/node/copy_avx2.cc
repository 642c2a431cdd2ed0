// Copy kernels for CPUs with AVX2.

#include <immintrin.h>

#include <array>
#include <utility>

#include "impl/node/copy_table.h"
// Everything from here on is compiled for that CPU, the loops included.
#pragma GCC target("avx2")
#include "impl/node/copy_loop.h"

namespace armci::node::internal {
namespace {

struct Avx2 {
  static constexpr size_t kVectorBytes = 32;

  static void stream(char* to, Chunk<Avx2, kVectorBytes>::Value value) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
  }
};

}  // namespace

constinit const CopyTable kCopyAvx2 = copy_table_of<Avx2>();

}  // namespace armci::node::internal
