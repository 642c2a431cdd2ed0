// EXT-1: the 64-bit transfers (see also *_table_test.cc and ext_large_test.cc).

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "armcix.h"
#include "conformance/harness/test.h"
#include "conformance/harness/transfer_calls.h"

namespace conformance {
namespace {

struct WideCalls {
  using Length = std::size_t;
  using Stride = std::ptrdiff_t;
  using Descriptor = armcix_giov_t;
  TRANSFER_CALLS(ARMCIX_);
};

}  // namespace

// With this the tables have a second width.
std::unique_ptr<TransferCalls> MakeWideCalls(const Plan& plan) {
  return std::make_unique<TransferCallsOf<WideCalls>>(plan);
}

namespace {

CLAUSE_TEST(EXT, EXT1_64bit_random_shapes_in_every_mode, "EXT-1", "XFER-5", "XFER-6", "ACC-1", "ACC-3",
            DeadlineSeconds(60)) {
  // Shapes that the tables do not have: up to eight levels, segments in any order, every type of element.
  constexpr std::size_t kExtent = 16384;
  Arena arena(kExtent + 4 * kGuard);
  for (int target = 0; target < Np(); ++target) {
    for (int i = 0; i < Scaled(300, 60); ++i) {
      const AccType& type = kAccTypes[MyRng().Below(6)];
      const Plan plan = RandomPlan(&MyRng(), kShapes[MyRng().Below(3)], kExtent, type.bytes);
      const Mode mode = kModes[MyRng().Below(4)];
      arena.Refill(&MyRng(), target, &type);
      if (!CheckGet(&arena, plan, mode, target, kGuard, kGuard, Width::kWide)) return;
      if (!CheckAcc(&arena, plan, mode, target, type, kGuard, kGuard, Width::kWide)) return;
      if (!CheckPut(&arena, plan, mode, target, kGuard, kGuard, Width::kWide)) return;
    }
  }
  arena.VerifyByOwners();
}

}  // namespace
}  // namespace conformance
