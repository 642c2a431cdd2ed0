// Each rule of location consistency with a history that keeps it and one that breaks it.

#include <gtest/gtest.h>

#include <string>

#include "conformance/history/generate.h"
#include "conformance/history/location_consistency.h"
#include "conformance/history/simulate.h"
#include "conformance/history/testing.h"

namespace conformance::history {
namespace {

constexpr long kA = ValueOf(100);
constexpr long kB = ValueOf(101);
constexpr long kC = ValueOf(102);

const long kX0 = Script(2).Initial(kX);

// The values that rank `reader` may get of x after `script`: the initial value, A, or both.
std::string SeenOf(Script script, int reader) {
  const bool old_legal = Script(script).Get(reader, kX, kX0).Broken().empty();
  const bool new_legal = Script(script).Get(reader, kX, kA).Broken().empty();
  return std::string(old_legal ? "old " : "") + (new_legal ? "new" : "");
}

TEST(LocationConsistencyTest, ARankSeesItsOwnBlockingPut) {
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA), 0), "new");
  EXPECT_EQ(Script(2).Put(0, kX, kA).Get(0, kX, kX0).Broken(), "LC-1");
}

TEST(LocationConsistencyTest, AnotherRankMayOrMayNotSeeIt) {
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA), 1), "old new");
}

TEST(LocationConsistencyTest, BarrierOrdersTheStoresOfAll) {
  EXPECT_EQ(SeenOf(Script(3).Put(0, kX, kA).Barrier(), 1), "new");
  EXPECT_EQ(SeenOf(Script(3).Put(0, kX, kA).Nonblocking(0).Barrier(), 2), "new");
}

TEST(LocationConsistencyTest, ABarrierOfMpiOrdersOnlyWhatIsFenced) {
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).MpiBarrier(), 1), "old new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Fence(0).MpiBarrier(), 1), "new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Fence(1).MpiBarrier(), 1), "old new");
}

TEST(LocationConsistencyTest, WaitOrdersNothingForOthers) {
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Nonblocking(0).Wait(0, 0).MpiBarrier(), 1), "old new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Nonblocking(0).Wait(0, 0), 0), "new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Nonblocking(0).Wait(0, 1), 0), "old new");
}

TEST(LocationConsistencyTest, ALoadSeesWhatIsRemotelyComplete) {
  EXPECT_EQ(Script(2).Put(0, kX, kA).Load(0, kX, kX0).Broken(), "");
  EXPECT_EQ(Script(2).Put(0, kX, kA).Fence(0).Load(0, kX, kX0).Broken(), "LC-1");
}

TEST(LocationConsistencyTest, AMessageCarriesFencedStores) {
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Fence(0).Send(0, 1, 1).Receive(1, 0, 1), 1), "new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Send(0, 1, 1).Receive(1, 0, 1), 1), "old new");
  EXPECT_EQ(SeenOf(Script(2).Fence(0).Put(0, kX, kA).Send(0, 1, 1).Receive(1, 0, 1), 1), "old new");
  EXPECT_EQ(SeenOf(Script(2).Send(0, 1, 1).Put(0, kX, kA).Fence(0).Receive(1, 0, 1), 1), "old new");
}

TEST(LocationConsistencyTest, MessagesChain) {
  Script script(3);
  script.Put(0, kX, kA).Fence(0).Send(0, 1, 1).Receive(1, 0, 1).Send(1, 2, 2).Receive(2, 1, 2);
  EXPECT_EQ(SeenOf(script, 2), "new");
}

TEST(LocationConsistencyTest, ANotificationCarriesTheStoresToItsReceiver) {
  EXPECT_EQ(SeenOf(Script(2).Put(1, kX, kA).Notify(1, 0, 1).Await(0, 1, 1), 0), "new");
  // x is at rank 0, not at the receiver.
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Notify(0, 1, 1).Await(1, 0, 1), 1), "old new");
  EXPECT_EQ(SeenOf(Script(2).Put(0, kX, kA).Fence(0).Notify(0, 1, 1).Await(1, 0, 1), 1), "new");
}

TEST(LocationConsistencyTest, ANotificationOrdersStoresForItsReceiverAndFromThereOn) {
  Script told(3);
  told.Put(1, kX, kA).Notify(1, 0, 1);
  // Rank 2 knows that rank 1 has notified, not that rank 0 has seen it.
  EXPECT_EQ(SeenOf(Script(told).Send(1, 2, 2).Receive(2, 1, 2).Await(0, 1, 1), 2), "old new");
  EXPECT_EQ(SeenOf(Script(told).Await(0, 1, 1).Send(0, 2, 2).Receive(2, 0, 2), 2), "new");
  // A store behind the notification, and one to another rank.
  EXPECT_EQ(SeenOf(Script(2).Notify(1, 0, 1).Put(1, kX, kA).Await(0, 1, 1), 0), "old new");
  EXPECT_EQ(SeenOf(Script(3).Put(1, kX, kA).Notify(1, 2, 1).Await(2, 1, 1), 2), "old new");
}

TEST(LocationConsistencyTest, AMutexCarriesFencedStoresToTheNextHolder) {
  EXPECT_EQ(SeenOf(Script(2).Lock(0, 1).Put(0, kX, kA).Fence(0).Unlock(0, 1).Lock(1, 2), 1), "new");
  EXPECT_EQ(SeenOf(Script(2).Lock(0, 1).Put(0, kX, kA).Unlock(0, 1).Lock(1, 2), 1), "old new");
}

TEST(LocationConsistencyTest, TheOrderOfMutexesIsTheRecordedOne) {
  // The second section of the list was the first in time.
  Script script(2);
  script.Lock(0, 1).During(100, 101).Put(0, kX, kA).During(102, 103).Fence(0).Unlock(0, 1).During(104, 105);
  script.Lock(1, 2).During(1, 2).Get(1, kX, kX0).During(3, 4).Unlock(1, 2).During(5, 6);
  EXPECT_EQ(script.Broken(), "");
}

TEST(LocationConsistencyTest, OverlappingSectionsAreFound) {
  Script script(2);
  script.Lock(0, 1).During(1, 2).Unlock(0, 1).During(10, 11).Lock(1, 2).During(3, 4).Unlock(1, 2).During(5, 6);
  EXPECT_EQ(script.Broken(), "MUTEX-2");
}

TEST(LocationConsistencyTest, BlockingPutsOfOneRankAreOrdered) {
  Script script = Script(2).Put(0, kX, kA).Put(0, kX, kB).Barrier();
  EXPECT_EQ(Script(script).Get(1, kX, kB).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kX, kA).Broken(), "LC-1");
}

TEST(LocationConsistencyTest, NonblockingPutsAreUnorderedUntilAFence) {
  Script script = Script(2).Put(0, kX, kA).Nonblocking(0).Put(0, kX, kB).Nonblocking(0).Wait(0, 0).Barrier();
  EXPECT_EQ(Script(script).Get(1, kX, kA).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kX, kB).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kX, kX0).Broken(), "LC-1");
  Script fenced = Script(2).Put(0, kX, kA).Nonblocking(0).Fence(0).Put(0, kX, kB).Nonblocking(0).Barrier();
  EXPECT_EQ(fenced.Get(1, kX, kA).Broken(), "LC-1");
}

TEST(LocationConsistencyTest, PutsOfTwoRanksAreUnordered) {
  Script script = Script(3).Put(0, kX, kA).Put(1, kX, kB).Barrier();
  EXPECT_EQ(Script(script).Get(2, kX, kA).Broken(), "");
  EXPECT_EQ(Script(script).Get(2, kX, kB).Broken(), "");
  EXPECT_EQ(Script(script).Get(2, kX, kX0).Broken(), "LC-1");
}

TEST(LocationConsistencyTest, ANonblockingGetReadsBetweenIssueAndWait) {
  Script script = Script(1).Put(0, kX, kA).Get(0, kX, kB).Nonblocking(0).Put(0, kX, kB).Wait(0, 0);
  EXPECT_EQ(Script(script).During(3, 8).Broken(), "LC-3") << "the wait is step 3, not the get";
  Script long_get(1);
  long_get.Put(0, kX, kA).Get(0, kX, kB).Nonblocking(0).During(3, 8).Put(0, kX, kB).Wait(0, 0);
  EXPECT_EQ(long_get.Broken(), "");
  Script waited(1);
  waited.Put(0, kX, kA).Get(0, kX, kB).Nonblocking(0).During(3, 8).Wait(0, 0).Put(0, kX, kB);
  EXPECT_EQ(waited.Broken(), "LC-3");
}

TEST(LocationConsistencyTest, NothingComesOutOfThinAir) {
  EXPECT_EQ(Script(2).Get(1, kX, kA).Broken(), "LC-3") << "never written";
  EXPECT_EQ(Script(2).Put(0, kY, kA).Get(1, kX, kA).Broken(), "LC-3") << "written elsewhere";
  EXPECT_EQ(Script(2).Get(1, kX, kA).Put(0, kX, kA).Broken(), "LC-3") << "written later";
  EXPECT_EQ(Script(2).Get(1, kX, kA).During(1, 9).Put(0, kX, kA).Broken(), "") << "written meanwhile";
  EXPECT_EQ(Script(2).Get(1, kX, 0x7B7B7B7B7B7B7B7B).Broken(), "LC-3") << "what the buffer held";
}

TEST(LocationConsistencyTest, TornElementsAreFound) {
  constexpr long kHalf = 0xFFFFFFFF;
  Script script = Script(2).Put(0, kX, kA).Put(1, kX, kB);
  EXPECT_EQ(Script(script).Get(1, kX, (kA & ~kHalf) | (kB & kHalf)).Broken(), "LC-3");
  EXPECT_EQ(Script(script).Get(1, kX, kB).Broken(), "");
}

TEST(LocationConsistencyTest, AccumulatesAddUp) {
  const long zero = Script(2).Initial(kSumCell);
  constexpr long kOne = 1L << 32;
  constexpr long kTwo = 1L << 33;
  Script script = Script(2).Acc(0, kSumCell, kOne).Acc(1, kSumCell, kTwo);
  EXPECT_EQ(Script(script).Get(1, kSumCell, zero + kTwo).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kSumCell, zero + kOne + kTwo).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kSumCell, zero + kOne).Broken(), "LC-1") << "its own is missing";
  EXPECT_EQ(Script(script).Barrier().Get(1, kSumCell, zero + kTwo).Broken(), "LC-1") << "the other is missing";
  EXPECT_EQ(Script(script).Get(1, kSumCell, zero + kTwo + (1L << 40)).Broken(), "LC-3") << "never added";
  EXPECT_EQ(Script(script).Get(1, kSumCell, zero + 2 * kTwo).Broken(), "LC-1") << "added twice";
}

TEST(LocationConsistencyTest, APutWritesOverWhatWasAddedBefore) {
  constexpr long kOne = 1L << 32;
  Script script = Script(2).Acc(0, kMixedCell, kOne).Put(0, kMixedCell, kA);
  EXPECT_EQ(Script(script).Get(0, kMixedCell, kA).Broken(), "");
  EXPECT_EQ(Script(script).Get(0, kMixedCell, kA + kOne).Broken(), "LC-1");
  EXPECT_EQ(Script(script).Get(1, kMixedCell, script.Initial(kMixedCell) + kOne).Broken(), "");
}

TEST(LocationConsistencyTest, RmwReadsAndWrites) {
  Script script = Script(2).Put(0, kMixedCell, kA).FetchAndAdd(0, kMixedCell, 1, kA);
  EXPECT_EQ(Script(script).Swap(0, kMixedCell, kB, kA + 1).Get(0, kMixedCell, kB).Broken(), "");
  EXPECT_EQ(Script(script).Swap(0, kMixedCell, kB, kA).Broken(), "LC-1");
  EXPECT_EQ(Script(script).Swap(0, kMixedCell, kB, kB).Broken(), "LC-3") << "it saw itself";
}

TEST(LocationConsistencyTest, ARankDoesNotGoBackInTime) {
  Script script = Script(2).Put(0, kX, kA).Put(0, kX, kB);
  EXPECT_EQ(Script(script).Get(1, kX, kA).Get(1, kX, kB).Broken(), "");
  EXPECT_EQ(Script(script).Get(1, kX, kB).Get(1, kX, kA).Broken(), "ORD-4");
  EXPECT_EQ(Script(script).Get(1, kX, kA).Get(1, kX, kX0).Broken(), "ORD-4");
  Script racing = Script(3).Put(0, kX, kA).Put(1, kX, kB);
  EXPECT_EQ(Script(racing).Get(2, kX, kB).Get(2, kX, kA).Get(2, kX, kB).Broken(), "") << "unordered";
  const long sum = Script(2).Initial(kSumCell) + (1L << 32);
  EXPECT_EQ(Script(2).Acc(0, kSumCell, 1L << 32).Get(1, kSumCell, sum).Get(1, kSumCell, sum - (1L << 32)).Broken(),
            "ORD-4");
}

TEST(LocationConsistencyTest, StoresOfDifferentClassesThatMeetAreNotJudged) {
  Script script = Script(2).Put(0, kMixedCell, kA).FetchAndAdd(1, kMixedCell, 1, 12345);
  const Findings findings = script.Judge();
  EXPECT_FALSE(findings.violation.has_value());
  EXPECT_EQ(findings.undefined_locations, 1);
  Script ordered = Script(2).Put(0, kMixedCell, kA).Barrier().FetchAndAdd(1, kMixedCell, 1, 12345);
  EXPECT_EQ(ordered.Broken(), "LC-3");
  EXPECT_EQ(ordered.Judge().undefined_locations, 0);
}

TEST(LocationConsistencyTest, AMessageCannotComeFromALaterLock) {
  // Rank 1 got the mutex first by the clock, though it had to wait for a message of the section of rank 0.
  Script script(2);
  script.Lock(0, 1).During(10, 11).Send(0, 1, 5).During(12, 13).Unlock(0, 1).During(14, 15);
  script.Receive(1, 0, 5).During(1, 2).Lock(1, 2).During(3, 4).Unlock(1, 2).During(5, 6);
  EXPECT_EQ(script.Broken(), "LC-1");
}

// Every single change of a legal history that brings in a value from elsewhere, or an overwritten one.
TEST(LocationConsistencyTest, MutatedHistoriesAreFound) {
  long foreign = 0;
  long overwritten = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Program program = Generate(seed, 3, Recipe{});
    const History legal = *Simulate(program, seed);
    ASSERT_FALSE(CheckHistory(program, legal).violation.has_value());
    for (const Location& location : LocationsOf(program)) {
      for (const Access& read : location.reads) {
        History mutated = legal;
        long& value = mutated.seen[static_cast<std::size_t>(read.step)][static_cast<std::size_t>(read.index)];
        const bool first = program.Location(location.host, location.cell) == 0;
        value = ValueOf(first ? 2 : 1) | (value & kBits);  // another location's first value
        ASSERT_TRUE(CheckHistory(program, mutated).violation.has_value()) << TextOf(program, read.step);
        ++foreign;
      }
      if (location.puts.empty() || location.reads.empty()) continue;
      // The last reads come behind a barrier that is behind every store.
      const Access& last = location.reads.back();
      History mutated = legal;
      mutated.seen[static_cast<std::size_t>(last.step)][static_cast<std::size_t>(last.index)] = location.initial;
      ASSERT_TRUE(CheckHistory(program, mutated).violation.has_value()) << TextOf(program, last.step);
      ++overwritten;
    }
  }
  EXPECT_GT(foreign, 1000);
  EXPECT_GT(overwritten, 100);
}

TEST(LocationConsistencyTest, TenThousandOperationsAreJudged) {
  Recipe recipe;
  recipe.steps = 2500;
  const Program program = Generate(1, 4, recipe);
  ASSERT_GT(program.steps.size(), 10000u);
  const Findings findings = CheckHistory(program, *Simulate(program, 1));
  EXPECT_FALSE(findings.violation.has_value()) << findings.violation->text;
  EXPECT_GT(findings.reads, 8000);
}

}  // namespace
}  // namespace conformance::history
