// Histories of read-modify-writes that have a linearization, and some that have none.

#include <gtest/gtest.h>

#include <climits>

#include "conformance/history/generate.h"
#include "conformance/history/linearizability.h"
#include "conformance/history/simulate.h"
#include "conformance/history/testing.h"

namespace conformance::history {
namespace {

RmwCall Add(int rank, long extra, long saw, double start, double end) {
  return {rank, false, extra, saw, {start, end}};
}
RmwCall Swap(int rank, long value, long saw, double start, double end) {
  return {rank, true, value, saw, {start, end}};
}

bool Found(const std::vector<RmwCall>& calls, long initial = 0, std::size_t bytes = 8) {
  return Linearize(initial, bytes, calls).found;
}

TEST(LinearizabilityTest, NoCallsAndOneCall) {
  EXPECT_TRUE(Found({}));
  EXPECT_TRUE(Found({Add(0, 1, 0, 1, 2)}));
  EXPECT_FALSE(Found({Add(0, 1, 1, 1, 2)}));
  EXPECT_TRUE(Found({Add(0, 1, 1, 1, 2)}, 1));
}

TEST(LinearizabilityTest, OverlappingCallsMayTakeAnyOrder) {
  EXPECT_TRUE(Found({Add(0, 1, 1, 1, 10), Add(1, 1, 0, 2, 11)}));
  EXPECT_TRUE(Found({Add(0, 1, 0, 1, 10), Add(1, 1, 1, 2, 11)}));
}

TEST(LinearizabilityTest, ACallThatHadEndedComesFirst) {
  EXPECT_TRUE(Found({Add(0, 1, 0, 1, 2), Add(1, 1, 1, 3, 4)}));
  EXPECT_FALSE(Found({Add(0, 1, 1, 1, 2), Add(1, 1, 0, 3, 4)}));
}

TEST(LinearizabilityTest, TheOrderOfOneRankIsKept) { EXPECT_FALSE(Found({Add(0, 1, 1, 1, 2), Add(0, 1, 0, 3, 4)})); }

TEST(LinearizabilityTest, ALostUpdateIsFound) {
  EXPECT_FALSE(Found({Add(0, 1, 0, 1, 10), Add(1, 1, 0, 2, 11)}));
  EXPECT_FALSE(Found({Add(0, 1, 0, 1, 10), Add(1, 1, 0, 2, 11), Add(2, 1, 1, 1, 12)}));
}

TEST(LinearizabilityTest, SwapsFormAChain) {
  EXPECT_TRUE(Found({Swap(0, 7, 0, 1, 10), Swap(1, 8, 7, 1, 10), Swap(2, 9, 8, 1, 10)}));
  EXPECT_FALSE(Found({Swap(0, 7, 0, 1, 10), Swap(1, 8, 7, 1, 10), Swap(2, 9, 7, 1, 10)})) << "7 was swapped out twice";
  EXPECT_FALSE(Found({Swap(0, 7, 8, 1, 10), Swap(1, 8, 7, 1, 10)})) << "a circle without the first value";
}

TEST(LinearizabilityTest, EqualValuesNeedTheSearchToGoBack) {
  // Both swaps saw 0. Taking the one of rank 0 first leads nowhere: rank 1's add saw what rank 2's left.
  EXPECT_TRUE(Found({Swap(0, 0, 0, 1, 20), Swap(1, 5, 0, 1, 20), Add(2, -5, 5, 1, 20)}));
  EXPECT_TRUE(Found({Swap(0, 3, 0, 1, 20), Swap(1, 5, 0, 1, 20), Add(2, -5, 5, 1, 20)}));
  EXPECT_FALSE(Found({Swap(0, 3, 0, 1, 20), Swap(1, 5, 0, 1, 20), Add(2, -4, 5, 1, 20)}));
}

TEST(LinearizabilityTest, IntegersWrapAround) {
  EXPECT_TRUE(Found({Add(0, 1, INT_MAX, 1, 2), Add(0, 1, INT_MIN, 3, 4)}, INT_MAX, 4));
  EXPECT_FALSE(Found({Add(0, 1, INT_MAX, 1, 2), Add(0, 1, INT_MIN, 3, 4)}, INT_MAX, 8));
  EXPECT_TRUE(Found({Add(0, 1, LONG_MAX, 1, 2), Add(0, 1, LONG_MIN, 3, 4)}, LONG_MAX, 8));
}

TEST(LinearizabilityTest, TheLongestBeginningIsReported) {
  const Linearization result = Linearize(0, 8, {Add(0, 1, 0, 1, 2), Add(0, 1, 1, 3, 4), Add(0, 1, 7, 5, 6)});
  EXPECT_FALSE(result.found);
  EXPECT_EQ(result.order, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(result.value, 2);
}

TEST(LinearizabilityTest, ManyEqualCallsDoNotExplode) {
  // All orders of these lead to the same few states; the last call has no place in any.
  std::vector<RmwCall> calls;
  for (int rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 8; ++i) calls.push_back(Add(rank, 0, 0, 1 + i, 100 + i));
  }
  EXPECT_TRUE(Found(calls));
  calls.push_back(Add(4, 1, 1, 1, 200));
  EXPECT_FALSE(Found(calls));
}

TEST(LinearizabilityTest, CountersOfAProgramAreJudged) {
  Script script(2);
  script.FetchAndAdd(0, kCounterCell, 5, 0).FetchAndAdd(1, kCounterCell, 5, 5).Swap(0, kCounterCell, 1, 10);
  EXPECT_EQ(script.Broken(), "");
  EXPECT_EQ(script.Judge().calls, 3);
  EXPECT_EQ(script.FetchAndAdd(1, kCounterCell, 1, 10).Broken(), "RMW-2");
}

TEST(LinearizabilityTest, MutatedHistoriesAreFound) {
  Recipe recipe;
  recipe.counters_only = true;
  const Program program = Generate(3, 4, recipe);
  const History legal = *Simulate(program, 3);
  ASSERT_FALSE(CheckLinearizability(program, legal).violation.has_value());
  int mutations = 0;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    if (!IsRmw(program.steps[at].kind)) continue;
    History mutated = legal;
    mutated.seen[at][0] += 100000;
    EXPECT_TRUE(CheckLinearizability(program, mutated).violation.has_value()) << TextOf(program, at);
    ++mutations;
  }
  EXPECT_GT(mutations, 100);
}

TEST(LinearizabilityTest, TenThousandCallsAreJudged) {
  Recipe recipe;
  recipe.counters_only = true;
  recipe.steps = 3000;
  const Program program = Generate(1, 4, recipe);
  const LinearizabilityResult result = CheckLinearizability(program, *Simulate(program, 1));
  EXPECT_FALSE(result.violation.has_value()) << result.violation->text;
  EXPECT_GT(result.calls, 10000);
}

}  // namespace
}  // namespace conformance::history
