// Chooses the accumulate kernels for the CPU at run time.

#include "impl/node/accumulate.h"

#include <atomic>

#include "impl/node/accumulate_table.h"

namespace armci::node {
namespace {

// The level in use plus one, 0 before the first call.  Memory ordering: relaxed, because every thread finds the same
// level and the tables are constants.
constinit std::atomic<int> chosen{0};

const internal::AccumulateTable& table_of(AccumulateLevel level) noexcept {
  switch (level) {
    case AccumulateLevel::kAvx512Wide:
      return internal::kAccumulateAvx512Wide;
    case AccumulateLevel::kAvx512:
      return internal::kAccumulateAvx512;
    case AccumulateLevel::kAvx2:
      return internal::kAccumulateAvx2;
    default:
      return internal::kAccumulateBaseline;
  }
}

bool runs_here(AccumulateLevel level) noexcept {
  __builtin_cpu_init();  // a caller may come before the constructors of the C run-time
  switch (level) {
    case AccumulateLevel::kAvx512Wide:
      return runs_here(AccumulateLevel::kAvx512) && __builtin_cpu_supports("avx512vbmi2");
    case AccumulateLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case AccumulateLevel::kAvx2:
      return __builtin_cpu_supports("avx2");
    default:
      return true;
  }
}

AccumulateLevel best_level() noexcept {
  if (runs_here(AccumulateLevel::kAvx512Wide)) return AccumulateLevel::kAvx512Wide;
  if (runs_here(AccumulateLevel::kAvx512)) return AccumulateLevel::kAvx512;
  return runs_here(AccumulateLevel::kAvx2) ? AccumulateLevel::kAvx2 : AccumulateLevel::kBaseline;
}

}  // namespace

AccumulateLevel accumulate_level() noexcept {
  int level = chosen.load(std::memory_order_relaxed);
  if (level == 0) [[unlikely]] {
    level = static_cast<int>(best_level()) + 1;
    chosen.store(level, std::memory_order_relaxed);
  }
  return static_cast<AccumulateLevel>(level - 1);
}

AccumulateKernel accumulate_kernel(AccType type) noexcept {
  return table_of(accumulate_level()).kernel[static_cast<int>(type)];
}

AccumulateKernel accumulate_kernel_at(AccumulateLevel level, AccType type) noexcept {
  return runs_here(level) ? table_of(level).kernel[static_cast<int>(type)] : nullptr;
}

}  // namespace armci::node
