// RMW: atomics on one int or long.

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Fetch-and-add of `extra`, then a swap, on the first T of the target's slot. False if they stored anything else.
template <typename T>
bool AddAndSwap(Arena* arena, int target, int extra, int add, int swap, const std::string& type) {
  using Unsigned = std::make_unsigned_t<T>;
  char* image = arena->Image(target) + kGuard;
  void* remote = arena->Slot(target) + kGuard;
  T before;
  std::memcpy(&before, image, sizeof before);
  T local = static_cast<T>(MyRng().Next());
  EXPECT_EQ(ARMCI_Rmw(add, &local, remote, extra, target), 0);
  EXPECT_EQ(local, before);
  const T sum = static_cast<T>(static_cast<Unsigned>(before) + static_cast<Unsigned>(extra));
  std::memcpy(image, &sum, sizeof sum);
  if (!arena->Verify(target, "fetch-and-add of " + type)) return false;

  local = static_cast<T>(MyRng().Next());
  const T given = local;
  EXPECT_EQ(ARMCI_Rmw(swap, &local, remote, extra, target), 0);
  EXPECT_EQ(local, sum);
  std::memcpy(image, &given, sizeof given);
  return arena->Verify(target, "swap of " + type);
}

CLAUSE_TEST(RMW, RMW1_fetch_and_add_and_swap_on_int_and_long, "RMW-1", "XFER-4") {
  Arena arena(512);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (int i = 0; i < 50; ++i) {
      const int extra = static_cast<int>(MyRng().Between(-100000, 100000));
      if (!AddAndSwap<int>(&arena, target, extra, ARMCI_FETCH_AND_ADD, ARMCI_SWAP, "int")) return;
      if (!AddAndSwap<long>(&arena, target, extra, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP_LONG, "long")) return;
    }
  }
  arena.VerifyByOwners();
}

// One operation of a history: [start, end] on a clock shared by the processes, and what it saw.
struct Event {
  double start;
  double end;
  long saw;    // the value before
  long wrote;  // swap only
};

// No race goes further, so that the records stay small.
constexpr long kStepsMax = 500000;

// The events are in the one order that explains the values. It is a linearization unless some event ended before
// another one, which is in front of it, began.
void ExpectRealTimeOrder(const std::vector<Event>& order) {
  double latest_start = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_GE(order[i].end, latest_start) << "operation " << i << " of the value order (saw " << order[i].saw
                                          << ") ended before an earlier one began" << SeedText();
    latest_start = std::max(latest_start, order[i].start);
  }
}

CLAUSE_TEST(RMW, RMW2_fetch_and_add_is_linearizable, "RMW-2", "RMW-3", DeadlineSeconds(90)) {
  if (!ClockIsShared()) SkipTest("needs all ranks on one machine's clock");
  Region region(64);
  const int host = Np() - 1;
  std::vector<Event> mine;
  Race race(AllRanks());
  while (race.GoOn() && race.steps() < kStepsMax) {
    Event event{SharedClock(), 0, 0, 0};
    ASSERT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &event.saw, region.At(host), 1, host), 0);
    event.end = SharedClock();
    mine.push_back(event);
  }
  Agree();
  for (std::size_t i = 1; i < mine.size(); ++i) ASSERT_LT(mine[i - 1].saw, mine[i].saw) << "own sequence";
  std::vector<Event> all = GatherAtZero(mine);
  std::sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.saw < b.saw; });
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].saw, static_cast<long>(i)) << "each ticket once";
  ExpectRealTimeOrder(all);
}

CLAUSE_TEST(RMW, RMW2_swap_is_linearizable, "RMW-2", DeadlineSeconds(90)) {
  if (!ClockIsShared()) SkipTest("needs all ranks on one machine's clock");
  Region region(64);
  const int host = 0;
  std::vector<Event> mine;
  Race race(AllRanks());
  while (race.GoOn() && race.steps() < kStepsMax) {
    // Every value is written once, so the values seen form a chain from 0 to what is left at the end.
    const long value = race.steps() * Np() + Me();
    Event event{SharedClock(), 0, value, value};
    ASSERT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &event.saw, region.At(host), 0, host), 0);
    event.end = SharedClock();
    mine.push_back(event);
  }
  Sync();
  const long last = ARMCI_GetValueLong(region.At(host), host);
  const std::vector<Event> all = GatherAtZero(mine);
  std::unordered_map<long, std::size_t> who_saw;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(who_saw.emplace(all[i].saw, i).second) << "value " << all[i].saw << " was swapped out twice";
  }
  std::vector<Event> order;
  for (auto next = who_saw.find(0); next != who_saw.end(); next = who_saw.find(order.back().wrote)) {
    order.push_back(all[next->second]);
    ASSERT_LE(order.size(), all.size()) << "the chain of swaps runs in a circle";
  }
  if (Me() == 0) {
    ASSERT_EQ(order.size(), all.size()) << "the chain of swaps is broken";
    EXPECT_EQ(order.back().wrote, last);
    ExpectRealTimeOrder(order);
  }
}

CLAUSE_TEST(RMW, RMW3_every_ticket_once_on_int_and_long, "RMW-3", DeadlineSeconds(90)) {
  for (int op : {ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG}) {
    for (int host = 0; host < Np(); ++host) {
      Region region(64);
      std::vector<long> mine;
      Race race(AllRanks());
      while (race.GoOn() && race.steps() < kStepsMax) {
        long ticket_long = 0;
        int ticket_int = 0;
        void* ticket = op == ARMCI_FETCH_AND_ADD ? static_cast<void*>(&ticket_int) : &ticket_long;
        ASSERT_EQ(ARMCI_Rmw(op, ticket, region.At(host), 1, host), 0);
        const long value = op == ARMCI_FETCH_AND_ADD ? ticket_int : ticket_long;
        ASSERT_TRUE(mine.empty() || value > mine.back()) << "own tickets increase";
        mine.push_back(value);
      }
      Agree();
      std::vector<long> all = GatherAtZero(mine);
      std::sort(all.begin(), all.end());
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<long>(i)) << "host " << host;
    }
  }
}

CLAUSE_TEST(RMW, RMW4_adjacent_words_do_not_interfere, "RMW-4", DeadlineSeconds(90)) {
  // Each rank has words of its own between those of the others, and knows at any time what they hold.
  Region region(static_cast<std::size_t>(Np()) * 2 * 8 + 64);
  const int host = Np() / 2;
  int* int_word = region.As<int>(host, static_cast<std::size_t>(Me()));
  long* long_word = region.As<long>(host, static_cast<std::size_t>(Np() + Me()));
  Race race(AllRanks());
  for (int i = 0; race.GoOn(); ++i) {
    int seen_int = -1;
    ASSERT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &seen_int, int_word, 3, host), 0);
    ASSERT_EQ(seen_int, 3 * i) << "int next to others' ints" << SeedText();
    long seen_long = i + 1;
    ASSERT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &seen_long, long_word, 0, host), 0);
    ASSERT_EQ(seen_long, i) << "long next to others' longs" << SeedText();
  }
}

// An RMW of T on the last element that the store writes, the one a late store would bring last, and a get of it.
template <typename T>
bool RmwAfterStore(int op, char* image, char* last, int target, const std::string& text) {
  T before;
  std::memcpy(&before, image, sizeof(T));
  T seen = 0;
  EXPECT_EQ(ARMCI_Rmw(op, &seen, last, 5, target), 0);
  EXPECT_EQ(seen, before) << "RMW after " << text;
  const T after = before + 5;
  std::memcpy(image, &after, sizeof(T));
  T back = 0;
  EXPECT_EQ(ARMCI_Get(last, &back, sizeof(T), target), 0);
  EXPECT_EQ(back, after) << "get after RMW after " << text;
  return seen == before && back == after;
}

bool RmwAfterStores(const Way& way, std::size_t bytes, int target, Arena* arena) {
  const bool narrow = bytes % 8 != 0;
  for (int round = 0; round < Scaled(10, 2); ++round) {
    TableTransfer store(way, bytes);
    Bytes source(static_cast<std::size_t>(store.plan().SrcEnd()));
    FillElements(&MyRng(), narrow ? kAccTypes[0] : kTableType, source.data(), source.size());
    store.Model(source.data(), arena->Image(target) + kGuard);
    EXPECT_EQ(store.transfer().Start(source.data(), arena->Slot(target) + kGuard, target), 0);
    // A store that does not block is complete for its origin when its wait returns.
    EXPECT_EQ(store.transfer().Wait(), 0);
    const std::size_t at = kGuard + static_cast<std::size_t>(store.plan().DstEnd()) - (narrow ? 4 : 8);
    char* image = arena->Image(target) + at;
    char* last = arena->Slot(target) + at;
    const std::string text = NameOf(way) + " of " + std::to_string(bytes) + " bytes to " + std::to_string(target);
    const bool good = narrow ? RmwAfterStore<int>(ARMCI_FETCH_AND_ADD, image, last, target, text + SeedText())
                             : RmwAfterStore<long>(ARMCI_FETCH_AND_ADD_LONG, image, last, target, text + SeedText());
    if (!good) return false;
    // Only a fence orders it with the next round's store.
    if (way.mode != Mode::kBlocking) ARMCI_Fence(target);
  }
  return true;
}

CLAUSE_TEST(RMW, RMW5_ordered_after_earlier_stores_and_before_later_gets, "RMW-5", "ORD-4", DeadlineSeconds(60)) {
  Arena arena(kModestExtent + 2 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &kTableType);
    for (const Way& way : WaysThat([](const Way& each) { return each.op != Op::kGet; })) {
      for (std::size_t bytes : ModestSizesOf(way)) {
        // Whole elements: the word at the end has its alignment.
        const std::size_t whole = way.shape == Shape::kValue ? bytes : (bytes + 7) / 8 * 8;
        if (!RmwAfterStores(way, whole, target, &arena)) return;
      }
    }
    if (!arena.Verify(target, "stores and RMWs by turns" + SeedText())) return;
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(RMW, RMW5_a_drawer_of_the_ticket_sees_the_earlier_store, "RMW-5", "ORD-1", NeedsRanks(2)) {
  // Rank 0 puts data, then raises a counter at the same target by RMW; others that see the counter see the data.
  const int host = Np() - 1;
  Region region(256);
  Race race(AllRanks());
  for (long round = 1; race.GoOn(); ++round) {
    if (Me() == 0) {
      EXPECT_EQ(ARMCI_Put(&round, region.At(host), 8, host), 0);
      long ticket = 0;
      EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, region.At(host, 128), 1, host), 0);
    } else {
      const long counter = ARMCI_GetValueLong(region.At(host, 128), host);
      const long data = ARMCI_GetValueLong(region.At(host), host);
      ASSERT_GE(data, counter) << "the counter overtook the data" << SeedText();
    }
  }
}

void WrapAround(char* ints, char* longs, int target) {
  int start = INT_MAX - 1;
  EXPECT_EQ(ARMCI_PutValueInt(start, ints, target), 0);
  int seen = 0;
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &seen, ints, 3, target), 0);
  EXPECT_EQ(seen, INT_MAX - 1);
  EXPECT_EQ(ARMCI_GetValueInt(ints, target), INT_MIN + 1);
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &seen, ints, INT_MIN, target), 0);
  EXPECT_EQ(ARMCI_GetValueInt(ints, target), 1);
  EXPECT_EQ(ARMCI_GetValueInt(ints + 4, target), 0) << "a carry into the next word";

  EXPECT_EQ(ARMCI_PutValueLong(LONG_MAX, longs, target), 0);
  long seen_long = 0;
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen_long, longs, 1, target), 0);
  EXPECT_EQ(seen_long, LONG_MAX);
  EXPECT_EQ(ARMCI_GetValueLong(longs, target), LONG_MIN);
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen_long, longs, -1, target), 0);
  EXPECT_EQ(ARMCI_GetValueLong(longs, target), LONG_MAX) << "extra is signed";
}

CLAUSE_TEST(RMW, RMW6_wraps_around_in_twos_complement, "RMW-6", "XFER-4") {
  Region region(64 * static_cast<std::size_t>(Np()));
  for (int target : TableTargets()) {
    char* mine = region.At(target, 64 * static_cast<std::size_t>(Me()));
    WrapAround(mine, mine + 8, target);
  }
}

}  // namespace
}  // namespace conformance
