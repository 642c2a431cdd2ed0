// DLA: direct load and store between ARMCI_Access_begin and ARMCI_Access_end.

#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(DLA, DLA1_owner_and_origins_take_turns, "DLA-1", "LC-1") {
  // Even rounds: each rank puts into its right neighbour's memory, the owner loads. Odd rounds: the owner stores, the
  // left neighbour gets. Every access by load and store is bracketed.
  constexpr int kElements = 5000;
  constexpr int kBytes = kElements * 8;
  Region region(kBytes);
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  for (long round = 0; round < Rounds(300, 60); ++round) {
    std::vector<long> buffer(kElements, 100 * round + Me());
    if (round % 2 == 0) {
      EXPECT_EQ(ARMCI_Put(buffer.data(), region.At(right), kBytes, right), 0);
      ARMCI_Fence(right);
      Agree();
      ARMCI_Access_begin(region.Mine());
      const std::vector<long> seen(region.As<long>(Me()), region.As<long>(Me()) + kElements);
      ARMCI_Access_end(region.Mine());
      EXPECT_EQ(seen, std::vector<long>(kElements, 100 * round + left)) << "round " << round;
    } else {
      ARMCI_Access_begin(region.Mine());
      std::copy(buffer.begin(), buffer.end(), region.As<long>(Me()));
      ARMCI_Access_end(region.Mine());
      Agree();
      EXPECT_EQ(ARMCI_Get(region.At(right), buffer.data(), kBytes, right), 0);
      EXPECT_EQ(buffer, std::vector<long>(kElements, 100 * round + right)) << "round " << round;
    }
    Agree();
  }
}

CLAUSE_TEST(DLA, DLA1_address_inside_the_region, "DLA-1") {
  // The bracket may be opened with any address of the part, and other processes' operations elsewhere in it go on.
  Region region(8192);
  const int right = (Me() + 1) % Np();
  Sync();
  ARMCI_Access_begin(region.Mine() + 4096);
  StoreShared<long>(region.Mine() + 4096, 55 + Me());
  long value = 66 + Me();
  EXPECT_EQ(ARMCI_Put(&value, region.At(right), 8, right), 0);
  ARMCI_Access_end(region.Mine() + 4096);
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(region.At(right, 4096), right), 55 + right);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(right), right), 66 + Me());
}

}  // namespace
}  // namespace conformance
