// Copy kernels for CPUs with AVX-512 (F, VL).

#include <immintrin.h>

#include <array>
#include <utility>

#include "impl/node/copy_table.h"
// Everything from here on is compiled for that CPU, the loops included.
#pragma GCC target("avx512f,avx512vl,prefer-vector-width=512")
#include "impl/node/copy_loop.h"

namespace armci::node::internal {
namespace {

struct Avx512 {
  static constexpr size_t kVectorBytes = 64;

  static void stream(char* to, Chunk<Avx512, kVectorBytes>::Value value) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
  }
};

}  // namespace

constinit const CopyTable kCopyAvx512 = copy_table_of<Avx512>();

}  // namespace armci::node::internal
