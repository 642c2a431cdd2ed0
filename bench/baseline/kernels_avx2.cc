// The kernels for AVX2.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "bench/baseline/kernels.h"

namespace armci::bench {
namespace {

constexpr size_t kWidth = 32;
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_STREAM(pointer, vector) \
  _mm256_stream_si256(reinterpret_cast<__m256i*>(pointer), reinterpret_cast<__m256i>(vector))

#include "bench/baseline/kernels.inc"

}  // namespace

const VectorKernels kKernelsAvx2 = Kernels();

}  // namespace armci::bench
