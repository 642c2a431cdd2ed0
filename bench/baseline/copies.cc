#include "bench/baseline/copies.h"

#include <cstring>

#include "bench/baseline/kernels.h"

namespace armci::bench {
namespace {

void RepMovsb(void* dst, const void* src, size_t bytes) {
  asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

struct Names {
  const char* cached;
  const char* streaming;
};
constexpr Names kNames[kInstructionSets] = {{"sse2", "sse2-nt"}, {"avx2", "avx2-nt"}, {"avx512", "avx512-nt"}};

}  // namespace

size_t FindKernels(AvailableKernels (&out)[kInstructionSets]) {
  size_t found = 0;
  out[found++] = {"sse2", &kKernelsSse2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out[found++] = {"avx2", &kKernelsAvx2};
  const bool has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (found == 2 && has_avx512) out[found++] = {"avx512", &kKernelsAvx512};
  return found;
}

std::vector<CopyRoutine> CopyRoutines() {
  std::vector<CopyRoutine> routines = {{"memcpy", CopyBytesCall}, {"rep-movsb", RepMovsb}};
  AvailableKernels sets[kInstructionSets];
  const size_t found = FindKernels(sets);
  for (size_t i = 0; i < found; ++i) {
    routines.push_back({kNames[i].cached, sets[i].kernels->copy});
    routines.push_back({kNames[i].streaming, sets[i].kernels->copy_streaming});
  }
  return routines;
}

void CopyBytesCall(void* dst, const void* src, size_t bytes) { std::memcpy(dst, src, bytes); }

void CopyEightCall(void* dst, const void* src) { std::memcpy(dst, src, 8); }

}  // namespace armci::bench
