// EXT-3, EXT-4: signals.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
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

// A third process on the target's node loads the word after the fence of the origin, while the target makes no call.
CLAUSE_TEST(EXT, EXT3_a_fence_completes_signals, "EXT-3", "FENCE-1", "FENCE-2", NeedsRanks(3), DeadlineSeconds(60)) {
  Region region(4096);
  const int target = Np() - 1;
  const int observer = Np() - 2;
  const bool may_load = armci_domain_id(ARMCI_DOMAIN_SMP, target) == armci_domain_id(ARMCI_DOMAIN_SMP, observer);
  auto* const signal = reinterpret_cast<std::uint64_t*>(region.At(target));
  char* const done = region.At(target, 1024);
  const std::uint64_t rounds = may_load ? 60 : 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    Sync();
    if (Me() == 0) {
      // Stores to several targets: an AllFence for one target may be a fence.
      EXPECT_EQ(
          ARMCIX_Put_signal(&round, region.At(target, 64), sizeof round, signal, round, ARMCIX_SIGNAL_SET, target), 0);
      if (round % 2 == 0) {
        // Stores to several targets: an AllFence for one target may be a fence.
        EXPECT_EQ(ARMCI_PutValueLong(1, region.As<long>(observer, 8), observer), 0);
        ARMCI_AllFence();
      } else {
        ARMCI_Fence(target);
      }
      MPI_Send(nullptr, 0, MPI_INT, observer, 1, Comm());
    } else if (Me() == observer) {
      MPI_Recv(nullptr, 0, MPI_INT, 0, 1, Comm(), MPI_STATUS_IGNORE);
      EXPECT_EQ(LoadShared<std::uint64_t>(signal), round) << "the signal";
      EXPECT_EQ(LoadShared<std::uint64_t>(region.At(target, 64)), round) << "the data";
      StoreShared<std::uint64_t>(done, round);
    } else if (Me() == target) {
      WaitUntil(
          [&] {
            usleep(200);  // no call of the library or of MPI, and the core is free for the others
            return LoadShared<std::uint64_t>(done) == round;
          },
          "the observer to have looked");
    }
  }
  Sync();
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

// The others set their signals at rank 0 in an order that the seed chooses.
CLAUSE_TEST(EXT, EXT4_waits_for_several_signals, "EXT-4", "EXT-3", NeedsRanks(2)) {
  const auto np = static_cast<std::size_t>(Np());
  Region region(16 * np);
  auto* signals = reinterpret_cast<std::uint64_t*>(region.At(0));
  std::vector<int> skip(np, 0);
  skip[0] = 1;  // rank 0's own is never set
  for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(Rounds(200, 30)); ++round) {
    if (Me() != 0) {
      // Now and then late, so that the signals come in other orders and rank 0 falls asleep; other lengths fail
      // nothing.
      if (MyRng().Chance(1, 4)) std::this_thread::sleep_for(std::chrono::microseconds(MyRng().Below(3000)));
      auto data = static_cast<long>(round);
      EXPECT_EQ(ARMCIX_Put_signal(&data, region.At(0, 8 * (np + static_cast<std::size_t>(Me()))), 8, signals + Me(),
                                  round, ARMCIX_SIGNAL_SET, 0),
                0);
    } else {
      const auto expect_data = [&](std::size_t rank) {
        EXPECT_EQ(LoadShared<long>(region.At(0, 8 * (np + rank))), static_cast<long>(round)) << "of rank " << rank;
      };
      std::vector<int> left = skip;
      std::size_t one = 0;
      EXPECT_EQ(ARMCIX_Signal_wait_any(signals, np, left.data(), ARMCIX_CMP_GE, round, &one), 0);
      ASSERT_LT(one, np);
      EXPECT_EQ(left[one], 0);
      expect_data(one);
      left[one] = 1;
      while (std::count(left.begin(), left.end(), 0) > 1) {
        std::vector<std::size_t> some(np);
        std::size_t found = 0;
        EXPECT_EQ(ARMCIX_Signal_wait_some(signals, np, left.data(), ARMCIX_CMP_GE, round, some.data(), &found), 0);
        ASSERT_GE(found, 1u);
        for (std::size_t i = 0; i < found; ++i) {
          EXPECT_EQ(std::exchange(left[some[i]], 1), 0) << "found twice, or left out";
          expect_data(some[i]);
        }
      }
      EXPECT_EQ(ARMCIX_Signal_wait_all(signals, np, skip.data(), ARMCIX_CMP_GE, round), 0);
      for (std::size_t rank = 1; rank < np; ++rank) expect_data(rank);
    }
    Sync();
  }
}

CLAUSE_TEST(EXT, EXT4_a_wait_for_no_signal_returns_at_once, "EXT-4") {
  Region region(64);
  auto* signals = reinterpret_cast<std::uint64_t*>(region.Mine());
  const int all[] = {1, 1, 1};
  for (std::size_t count : {std::size_t{0}, std::size_t{3}}) {
    std::size_t which[3] = {7, 7, 7};
    std::size_t found = 7;
    EXPECT_EQ(ARMCIX_Signal_wait_all(signals, count, all, ARMCIX_CMP_EQ, 1), 0);
    EXPECT_EQ(ARMCIX_Signal_wait_some(signals, count, all, ARMCIX_CMP_EQ, 1, which, &found), 0);
    EXPECT_EQ(found, 0u);
    EXPECT_EQ(ARMCIX_Signal_wait_any(signals, count, all, ARMCIX_CMP_EQ, 1, which), 0);
    EXPECT_EQ(which[0], SIZE_MAX);
  }
}

CLAUSE_TEST(EXT, EXT4_some_are_all_that_hold, "EXT-4") {
  Region region(64);
  auto* signals = reinterpret_cast<std::uint64_t*>(region.Mine());
  for (std::size_t i = 0; i < 5; ++i) StoreShared<long>(signals + i, i % 2 == 0 ? 10 : 3);
  const int skip[] = {0, 0, 1, 0, 0};
  std::size_t which[5];
  std::size_t found = 0;
  EXPECT_EQ(ARMCIX_Signal_wait_some(signals, 5, skip, ARMCIX_CMP_GT, 5, which, &found), 0);
  ASSERT_EQ(found, 2u);
  EXPECT_EQ(which[0], 0u);
  EXPECT_EQ(which[1], 4u);
  EXPECT_EQ(ARMCIX_Signal_wait_any(signals, 5, nullptr, ARMCIX_CMP_LT, 5, which), 0);
  EXPECT_EQ(which[0], 1u);
}

}  // namespace
}  // namespace conformance
