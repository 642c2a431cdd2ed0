// EXT-2: the extended atomics.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "armcix.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

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

constexpr int kTickets = 50;

// Draws tickets of the counter by non-blocking calls, and completes them in one of the ways that there are.
void DrawTickets(int way, std::int64_t* counter, int host, std::int64_t* tickets) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  if (way == 0) ARMCI_SET_AGGREGATE_HANDLE(&handle);
  armci_hdl_t* const hdl = way <= 1 ? &handle : nullptr;
  for (int i = 0; i < kTickets; ++i) {
    std::int64_t one = 1;
    EXPECT_EQ(ARMCIX_NbRmw(ARMCIX_ADD, ARMCIX_INT64, &tickets[i], &one, nullptr, counter, host, hdl), 0);
    one = 77;  // the operand is read during the call
  }
  switch (way) {
    case 2:
      EXPECT_EQ(ARMCI_WaitProc(host), 0);
      break;
    case 3:
      EXPECT_EQ(ARMCI_WaitAll(), 0);
      break;
    case 4:
      ARMCI_Fence(host);
      break;
    case 5:
      ARMCI_AllFence();
      break;
    default:
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
  }
}

CLAUSE_TEST(EXT, EXT2_non_blocking_results_are_there_after_a_wait_or_a_fence, "EXT-2", "CMPL-3", "CMPL-4", "AGG-1",
            DeadlineSeconds(60)) {
  const int rounds = Scaled(60, 12);
  Region region(64);
  const auto draws = static_cast<std::size_t>(rounds) * kTickets;
  Sync();
  for (int host = 0; host < Np(); ++host) {
    std::vector<std::int64_t> tickets(draws, -1);
    for (int round = 0; round < rounds; ++round) {
      std::int64_t* const mine = &tickets[static_cast<std::size_t>(round) * kTickets];
      DrawTickets(round % 6, region.As<std::int64_t>(host, 0), host, mine);
      ASSERT_TRUE(std::none_of(mine, mine + kTickets, [](std::int64_t ticket) { return ticket < 0; }))
          << "a result is missing, way " << round % 6 << SeedText();
    }
    std::vector<int> drawn(draws * static_cast<std::size_t>(Np()), 0);
    for (const std::int64_t ticket : tickets) {
      ASSERT_LT(ticket, static_cast<std::int64_t>(drawn.size()));
      ++drawn[static_cast<std::size_t>(ticket)];
    }
    for (const int times : SumOverRanks(drawn)) ASSERT_EQ(times, 1) << "each ticket is drawn once, host " << host;
  }
}

CLAUSE_TEST(EXT, EXT2_any_number_of_non_blocking_atomics, "EXT-2", "CMPL-6", DeadlineSeconds(120)) {
  const auto count = static_cast<std::size_t>(Scaled(100000, 20000));
  Region region(static_cast<std::size_t>(Np()) * 8);
  const int host = (Me() + 1) % Np();
  auto* const word = region.As<std::uint32_t>(host, static_cast<std::size_t>(Me()) * 2);
  constexpr std::uint32_t kNoValue = 0x80000000u;  // no exclusive-or of operands has this bit
  std::vector<std::uint32_t> before(count, kNoValue);
  std::uint32_t all = 0;
  Sync();
  for (std::uint32_t& result : before) {
    const auto operand = static_cast<std::uint32_t>(MyRng().Below(kNoValue));
    all ^= operand;
    EXPECT_EQ(ARMCIX_NbRmw(ARMCIX_XOR, ARMCIX_UINT32, &result, &operand, nullptr, word, host, nullptr), 0);
  }
  ARMCI_Fence(host);
  EXPECT_EQ(std::count(before.begin(), before.end(), kNoValue), 0) << "results are missing";
  std::uint32_t now = 0;
  EXPECT_EQ(ARMCI_Get(word, &now, sizeof now, host), 0);
  EXPECT_EQ(now, all);
  Sync();
}

}  // namespace
}  // namespace conformance
