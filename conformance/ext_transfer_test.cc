// EXT-1 to EXT-4: the 64-bit transfers (see also *_table_test.cc and ext_large_test.cc), extended
// atomics, signals.

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

template <typename T>
T Apply(armcix_op_t op, T old, T operand, T compare) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case ARMCIX_ADD:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(operand));
    case ARMCIX_SWAP:
      return operand;
    case ARMCIX_CAS:
      return old == compare ? operand : old;
    case ARMCIX_AND:
      return old & operand;
    case ARMCIX_OR:
      return old | operand;
    case ARMCIX_XOR:
      return old ^ operand;
    case ARMCIX_MIN:
      return std::min(old, operand);
    default:
      return std::max(old, operand);
  }
}

template <typename T>
void EveryOperation(armcix_type_t type) {
  Arena arena(512);
  const T extremes[] = {T(0), T(1), static_cast<T>(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    ARMCI_Fence(target);
    char* image = arena.Image(target) + kGuard;
    char* slot = arena.Slot(target) + kGuard;
    for (int i = 0; i < 400; ++i) {
      const auto op = static_cast<armcix_op_t>(i % 8);
      const T operand = MyRng().Chance(1, 3) ? extremes[MyRng().Below(5)] : static_cast<T>(MyRng().Next());
      T old;
      std::memcpy(&old, image, sizeof old);
      const T compare = MyRng().Chance(1, 2) ? old : static_cast<T>(MyRng().Next());
      T result = 0;
      const T* compare_at = op == ARMCIX_CAS ? &compare : nullptr;
      if (i / 8 % 2 == 0) {
        EXPECT_EQ(ARMCIX_Rmw(op, type, &result, &operand, compare_at, slot, target), 0);
      } else {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        EXPECT_EQ(ARMCIX_NbRmw(op, type, &result, &operand, compare_at, slot, target, &handle), 0);
        EXPECT_EQ(ARMCI_Wait(&handle), 0);
      }
      ASSERT_EQ(result, old) << "operation " << op << " type " << type << SeedText();
      const T now = Apply(op, old, operand, compare);
      std::memcpy(image, &now, sizeof now);
      if (!arena.Verify(target, "operation " + std::to_string(op))) return;
    }
  }
}

CLAUSE_TEST(EXT, EXT2_every_operation_on_int32, "EXT-2") { EveryOperation<std::int32_t>(ARMCIX_INT32); }
CLAUSE_TEST(EXT, EXT2_every_operation_on_int64, "EXT-2") { EveryOperation<std::int64_t>(ARMCIX_INT64); }
CLAUSE_TEST(EXT, EXT2_every_operation_on_uint32, "EXT-2") { EveryOperation<std::uint32_t>(ARMCIX_UINT32); }
CLAUSE_TEST(EXT, EXT2_every_operation_on_uint64, "EXT-2") { EveryOperation<std::uint64_t>(ARMCIX_UINT64); }

CLAUSE_TEST(EXT, EXT2_compare_and_swap_has_one_winner, "EXT-2", "RMW-2", DeadlineSeconds(60)) {
  const int rounds = Scaled(50000, 5000);
  Region region(static_cast<std::size_t>(rounds) * 8);
  const int host = Np() / 2;
  std::vector<int> wins(static_cast<std::size_t>(rounds), 0);
  std::vector<std::int64_t> saw(wins.size());
  Sync();
  for (std::size_t i = 0; i < wins.size(); ++i) {
    const std::int64_t zero = 0;
    const std::int64_t mine = Me() + 1;
    EXPECT_EQ(ARMCIX_Rmw(ARMCIX_CAS, ARMCIX_INT64, &saw[i], &mine, &zero, region.As<std::int64_t>(host, i), host), 0);
    wins[i] = saw[i] == 0;
  }
  Sync();
  const std::vector<int> all = SumOverRanks(wins);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], 1) << "winners of word " << i;
    const long winner = ARMCI_GetValueLong(region.As<long>(host, i), host);
    ASSERT_EQ(saw[i], wins[i] != 0 ? 0 : winner) << "a loser sees the winner's value";
  }
}

CLAUSE_TEST(EXT, EXT2_all_atomics_of_one_width_are_atomic_together, "EXT-2", "RMW-2", DeadlineSeconds(60)) {
  // Adds by ARMCI_Rmw, by ARMCIX_Rmw and by compare-and-swap loops, signed and unsigned, on one word.
  Region region(64);
  const int host = 0;
  long rounds = 0;
  Race race(AllRanks());
  for (; race.GoOn(); ++rounds) {
    long seen = 0;
    std::uint64_t one = 1;
    std::int64_t old = 0;
    switch ((rounds + Me()) % 3) {
      case 0:
        EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen, region.At(host), 1, host), 0);
        break;
      case 1:
        EXPECT_EQ(ARMCIX_Rmw(ARMCIX_ADD, ARMCIX_UINT64, &seen, &one, nullptr, region.At(host), host), 0);
        break;
      default:
        for (std::int64_t guess = 0;; guess = old) {
          const std::int64_t next = guess + 1;
          ASSERT_EQ(ARMCIX_Rmw(ARMCIX_CAS, ARMCIX_INT64, &old, &next, &guess, region.At(host), host), 0);
          if (old == guess) break;
        }
    }
  }
  Sync();
  const long total = SumOverRanks(rounds);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(host), host), total);
}

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
