// The kernels for AVX-512.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "bench/baseline/kernels.h"

namespace armci::bench {
namespace {

constexpr size_t kWidth = 64;
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,prefer-vector-width=512")))
#define KERNEL_STREAM(pointer, vector) \
  _mm512_stream_si512(reinterpret_cast<__m512i*>(pointer), reinterpret_cast<__m512i>(vector))

#include "bench/baseline/kernels.inc"

}  // namespace

const VectorKernels kKernelsAvx512 = Kernels();

}  // namespace armci::bench
