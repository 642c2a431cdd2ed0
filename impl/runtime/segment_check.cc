#include "impl/runtime/segment_check.h"

namespace armci::runtime {
namespace {

using Checker = SegmentCheck (*)(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count,
                                 std::uint64_t base, std::uint64_t last_max) noexcept;

// All decisions are sign bits of sums, which every vector unit can collect with `or`. Addresses and lengths are below
// 2^63, so a difference that should not be negative has its top bit set exactly when it is.
[[gnu::always_inline]] inline SegmentCheck check(const std::uint64_t* remote, const std::uint64_t* local,
                                                 std::size_t count, std::uint64_t base,
                                                 std::uint64_t last_max) noexcept {
  std::uint64_t outside = 0;
  std::uint64_t null = 0;
  std::uint64_t remote_bits = 0;
  std::uint64_t local_bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t offset = remote[i] - base;
    outside |= offset | (last_max - offset);
    null |= (local[i] - 1) & ~local[i];
    remote_bits |= remote[i];
    local_bits |= local[i];
  }
  return {(outside >> 63) == 0, (null >> 63) != 0, remote_bits, local_bits};
}

SegmentCheck check_baseline(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count,
                            std::uint64_t base, std::uint64_t last_max) noexcept {
  return check(remote, local, count, base, last_max);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] SegmentCheck check_avx2(const std::uint64_t* remote, const std::uint64_t* local,
                                                std::size_t count, std::uint64_t base,
                                                std::uint64_t last_max) noexcept {
  return check(remote, local, count, base, last_max);
}
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] SegmentCheck check_avx512(const std::uint64_t* remote,
                                                                                      const std::uint64_t* local,
                                                                                      std::size_t count,
                                                                                      std::uint64_t base,
                                                                                      std::uint64_t last_max) noexcept {
  return check(remote, local, count, base, last_max);
}
#endif

Checker choose() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return check_avx512;
  if (__builtin_cpu_supports("avx2")) return check_avx2;
#endif
  return check_baseline;
}

const Checker chosen = choose();

}  // namespace

SegmentCheck check_segments(const void* const* remote, const void* const* local, std::size_t count, const void* base,
                            std::size_t last_max) noexcept {
  return chosen(reinterpret_cast<const std::uint64_t*>(remote), reinterpret_cast<const std::uint64_t*>(local), count,
                reinterpret_cast<std::uint64_t>(base), last_max);
}

}  // namespace armci::runtime
