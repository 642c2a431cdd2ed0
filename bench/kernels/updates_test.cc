// Updates stay inside the table, are the same each time, and lose nothing when they are sorted.
#include "bench/kernels/updates.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace armci::bench {
namespace {

constexpr Table kTable = {1000, 5};

TEST(Updates, StayInsideTheTable) {
  for (const Update& update : MakeUpdates(kTable, 2, 5000)) {
    ASSERT_TRUE(update.owner >= 0 && update.owner < kTable.processes);
    ASSERT_TRUE(update.offset >= 0 && update.offset < kTable.entries);
    ASSERT_TRUE(update.value >= -(1 << 30) && update.value < 1 << 30);
  }
}

TEST(Updates, GoEverywhere) {
  std::set<std::pair<int, long>> places;
  for (const Update& update : MakeUpdates(kTable, 0, 50'000)) places.emplace(update.owner, update.offset);
  EXPECT_GT(places.size(), 4990U);
}

TEST(Updates, OfTwoProcessesDiffer) {
  const Update one = MakeUpdates(kTable, 0, 1)[0];
  const Update other = MakeUpdates(kTable, 1, 1)[0];
  EXPECT_NE(one.value, other.value);
}

TEST(Updates, FewerAreTheFirstOfMore) {
  EXPECT_EQ(MakeUpdates(kTable, 3, 10)[9].value, MakeUpdates(kTable, 3, 20)[9].value);
}

TEST(Updates, PartsAddUpToStartsAndValues) {
  long expected = 0;
  for (long i = 0; i < kTable.entries * kTable.processes; ++i) expected += i;
  long sum = 0;
  for (int process = 0; process < kTable.processes; ++process) {
    for (const Update& update : MakeUpdates(kTable, process, 700)) expected += update.value;
    const std::vector<long> part = PartAfter(kTable, process, 700);
    sum += std::accumulate(part.begin(), part.end(), 0L);
  }
  EXPECT_EQ(sum, expected);
}

TEST(ByOwner, KeepsEveryUpdateInOrder) {
  const std::vector<Update> updates = MakeUpdates(kTable, 1, 1024);
  ByOwner sorted(kTable.processes, 1024);
  sorted.Sort(updates.data(), updates.data() + updates.size());
  EXPECT_EQ(sorted.end(kTable.processes - 1), 1024);
  for (int owner = 0; owner < kTable.processes; ++owner) {
    long next = sorted.begin(owner);
    for (const Update& update : updates) {
      if (update.owner != owner) continue;
      EXPECT_EQ(sorted[next].value, update.value);
      ++next;
    }
    EXPECT_EQ(next, sorted.end(owner));
  }
}

}  // namespace
}  // namespace armci::bench
