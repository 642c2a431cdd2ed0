#include "impl/runtime/survey.h"

namespace armci::runtime {
namespace {

using Surveyor = Survey (*)(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count,
                            std::uint64_t base, std::uint64_t room) noexcept;

// All decisions are sign bits of sums, which every vector unit can collect with `or`. Addresses and lengths are below
// 2^63, so a difference that should not be negative has its top bit set exactly when it is.
[[gnu::always_inline]] inline Survey survey(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count,
                                            std::uint64_t base, std::uint64_t room) noexcept {
  std::uint64_t outside = 0;
  std::uint64_t null = 0;
  std::uint64_t remote_bits = 0;
  std::uint64_t local_bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t offset = remote[i] - base;
    outside |= offset | (room - offset);
    null |= (local[i] - 1) & ~local[i];
    remote_bits |= remote[i];
    local_bits |= local[i];
  }
  return {(outside >> 63) == 0, (null >> 63) != 0, remote_bits, local_bits};
}

Survey survey_baseline(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count, std::uint64_t base,
                       std::uint64_t room) noexcept {
  return survey(remote, local, count, base, room);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] Survey survey_avx2(const std::uint64_t* remote, const std::uint64_t* local, std::size_t count,
                                           std::uint64_t base, std::uint64_t room) noexcept {
  return survey(remote, local, count, base, room);
}
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] Survey survey_avx512(const std::uint64_t* remote,
                                                                                 const std::uint64_t* local,
                                                                                 std::size_t count, std::uint64_t base,
                                                                                 std::uint64_t room) noexcept {
  return survey(remote, local, count, base, room);
}
#endif

Surveyor choose() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return survey_avx512;
  if (__builtin_cpu_supports("avx2")) return survey_avx2;
#endif
  return survey_baseline;
}

const Surveyor chosen = choose();

}  // namespace

Survey survey_pointers(const void* const* remote, const void* const* local, std::size_t count, const void* base,
                       std::size_t room) noexcept {
  return chosen(reinterpret_cast<const std::uint64_t*>(remote), reinterpret_cast<const std::uint64_t*>(local), count,
                reinterpret_cast<std::uint64_t>(base), room);
}

}  // namespace armci::runtime
