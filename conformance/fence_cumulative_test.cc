// FENCE-8: fences are cumulative. Relays and independent readers.

#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(FENCE, FENCE8_a_relay_with_allfence_passes_on_what_it_read, "FENCE-8", NeedsRanks(3), DeadlineSeconds(60)) {
  // P0: put x@A = 1, 2, ... P1: r = get x; allfence; put g@C = r. P2: r2 = get g; r3 = get x; never r3 < r2.
  Region region(256);
  const int x_host = Np() - 1;
  const int g_host = 0;
  char* x = region.At(x_host);
  char* g = region.At(g_host, 128);
  const bool may_load = SameNode(x_host);
  const auto read_x = [&] {
    return may_load && MyRng().Chance(1, 2) ? LoadShared<long>(x) : ARMCI_GetValueLong(x, x_host);
  };
  Race race({0, 1, 2});
  for (long round = 1; Me() < 3 && race.GoOn(); ++round) {
    if (Me() == 0) {
      EXPECT_EQ(ARMCI_Put(&round, x, 8, x_host), 0);
    } else if (Me() == 1) {
      long seen = read_x();
      ARMCI_AllFence();
      EXPECT_EQ(ARMCI_Put(&seen, g, 8, g_host), 0);
    } else {
      const long relayed = ARMCI_GetValueLong(g, g_host);
      const long direct = read_x();
      ASSERT_GE(direct, relayed) << "the relayed value is newer than the original" << SeedText();
    }
  }
}

CLAUSE_TEST(FENCE, FENCE8_independent_readers_with_allfence_agree, "FENCE-8", NeedsRanks(4), DeadlineSeconds(90)) {
  // Two writers, each to its own word; two readers look at both in opposite orders, with an AllFence in between. Seeing
  // (new x, old y) and (new y, old x) at once is forbidden.
  const long rounds = Scaled(20000, 2000);
  Region region(256);
  const int x_host = 2;
  const int y_host = 3;
  char* x = region.At(x_host);
  char* y = region.At(y_host, 64);
  std::vector<int> first_new_second_old(static_cast<std::size_t>(rounds), 0);
  Gate gate({0, 1, 2, 3});
  Sync();
  for (long round = 1; round <= rounds && Me() < 4; ++round) {
    if (!gate.Meet(round)) break;
    for (std::uint64_t spin = MyRng().Below(100); spin > 0; --spin) __asm__ volatile("");
    if (Me() < 2) {
      EXPECT_EQ(ARMCI_PutValueLong(round, Me() == 0 ? x : y, Me() == 0 ? x_host : y_host), 0);
      continue;
    }
    char* first = Me() == 2 ? x : y;
    char* second = Me() == 2 ? y : x;
    const int first_host = Me() == 2 ? x_host : y_host;
    const int second_host = Me() == 2 ? y_host : x_host;
    const long a = ARMCI_GetValueLong(first, first_host);
    ARMCI_AllFence();
    const long b = ARMCI_GetValueLong(second, second_host);
    first_new_second_old[static_cast<std::size_t>(round - 1)] = a >= round && b < round;
  }
  const std::vector<int> both = SumOverRanks(first_new_second_old);
  for (std::size_t i = 0; i < both.size(); ++i) {
    ASSERT_LT(both[i], 2) << "round " << i + 1 << ": the readers saw the writes in opposite orders" << SeedText();
  }
}

}  // namespace
}  // namespace conformance
