// The kernels for SSE2.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "bench/baseline/kernels.h"

namespace armci::bench {
namespace {

constexpr size_t kWidth = 16;
#define KERNEL_TARGET __attribute__((target("sse2")))
#define KERNEL_STREAM(pointer, vector) \
  _mm_stream_si128(reinterpret_cast<__m128i*>(pointer), reinterpret_cast<__m128i>(vector))

#include "bench/baseline/kernels.inc"

}  // namespace

const VectorKernels kKernelsSse2 = Kernels();

}  // namespace armci::bench
