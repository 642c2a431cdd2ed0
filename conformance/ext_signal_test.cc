// EXT-3, EXT-4: signals.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "armcix.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(EXT, EXT3_a_reader_of_the_signal_sees_the_data, "EXT-3", "EXT-4", "ORD-5", NeedsRanks(2),
            DeadlineSeconds(60)) {
  constexpr std::size_t kSignalAt = 1 << 18;
  Region region(kSignalAt + 128);
  const int target = Np() - 1;
  auto* signal = reinterpret_cast<std::uint64_t*>(region.At(target, kSignalAt));
  for (std::size_t bytes : {std::size_t{8}, std::size_t{2048}, std::size_t{1} << 17}) {
    const std::uint64_t rounds = Scaled<std::uint64_t>(bytes > 10000 ? 2000 : 30000, bytes > 10000 ? 200 : 3000);
    StoreShared<long>(region.Mine() + kSignalAt, 0);
    std::memset(region.Mine(), 0, kSignalAt);
    Sync();
    if (Me() == 0) {
      std::vector<long> data(bytes / 8);
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::fill(data.begin(), data.end(), static_cast<long>(round));
        // A blocking store before the signal is covered too.
        EXPECT_EQ(ARMCI_PutValueLong(static_cast<long>(round), region.At(target, kSignalAt + 64), target), 0);
        EXPECT_EQ(ARMCIX_Put_signal(data.data(), region.At(target), bytes, signal, round, ARMCIX_SIGNAL_SET, target),
                  0);
        std::fill(data.begin(), data.end(), -1);
      }
    } else if (Me() == target) {
      for (std::uint64_t round = 0; round < rounds && !::testing::Test::HasFailure();) {
        std::uint64_t seen = 0;
        ASSERT_EQ(ARMCIX_Signal_wait(signal, ARMCIX_CMP_GT, round, &seen), 0);
        ASSERT_GT(seen, round);
        round = seen;
        EXPECT_GE(LoadShared<long>(region.Mine()), static_cast<long>(round));
        EXPECT_GE(LoadShared<long>(region.Mine() + bytes - 8), static_cast<long>(round));
        EXPECT_GE(LoadShared<long>(region.Mine() + kSignalAt + 64), static_cast<long>(round)) << "the earlier store";
      }
    }
    Sync();
  }
}

CLAUSE_TEST(EXT, EXT3_signals_add_up, "EXT-3", "EXT-4") {
  const int each = Scaled(30000, 3000);
  Region region(4096);
  auto* signal = reinterpret_cast<std::uint64_t*>(region.At(0, 1024));
  Sync();
  long data = Me();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  for (int i = 0; i < each; ++i) {
    char* to = region.At(0, static_cast<std::size_t>(8 * Me()));
    // Blocking, non-blocking, and without any data.
    if (i % 3 == 0) {
      EXPECT_EQ(ARMCIX_Put_signal(&data, to, 8, signal, 1, ARMCIX_SIGNAL_ADD, 0), 0);
    } else if (i % 3 == 1) {
      EXPECT_EQ(ARMCIX_NbPut_signal(&data, to, 8, signal, 1, ARMCIX_SIGNAL_ADD, 0, &handle), 0);
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
    } else {
      EXPECT_EQ(ARMCIX_Put_signal(nullptr, nullptr, 0, signal, 1, ARMCIX_SIGNAL_ADD, 0), 0);
    }
  }
  if (Me() == 0) {
    std::uint64_t seen = 0;
    const auto all = static_cast<std::uint64_t>(each) * static_cast<std::uint64_t>(Np());
    EXPECT_EQ(ARMCIX_Signal_wait(signal, ARMCIX_CMP_GE, all, &seen), 0);
    EXPECT_EQ(seen, all);
  }
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(signal, 0), static_cast<long>(each) * Np());
}

CLAUSE_TEST(EXT, EXT4_signal_test_looks_once_with_every_comparison, "EXT-4") {
  Region region(64);
  auto* signal = reinterpret_cast<std::uint64_t*>(region.Mine());
  // Above the signed range: comparisons are unsigned.
  const std::uint64_t now = (std::uint64_t{1} << 63) + 5;
  StoreShared<long>(signal, static_cast<long>(now));
  for (std::uint64_t value : {std::uint64_t{0}, now - 1, now, now + 1}) {
    const bool expected[] = {now == value, now != value, now > value, now >= value, now < value, now <= value};
    for (int cmp = ARMCIX_CMP_EQ; cmp <= ARMCIX_CMP_LE; ++cmp) {
      std::uint64_t seen = 0;
      int satisfied = -1;
      EXPECT_EQ(ARMCIX_Signal_test(signal, static_cast<armcix_cmp_t>(cmp), value, &seen, &satisfied), 0);
      EXPECT_EQ(satisfied, expected[cmp] ? 1 : 0) << "comparison " << cmp;
      EXPECT_EQ(seen, now);
      if (!expected[cmp]) continue;
      seen = 0;
      EXPECT_EQ(ARMCIX_Signal_wait(signal, static_cast<armcix_cmp_t>(cmp), value, &seen), 0) << "holds already";
      EXPECT_EQ(seen, now);
    }
  }
}

}  // namespace
}  // namespace conformance
