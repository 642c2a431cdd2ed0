// The judges against the simulated machine: nothing legal is condemned, and every kind of fault is found.

#include <gtest/gtest.h>

#include <string>

#include "conformance/history/check.h"
#include "conformance/history/generate.h"
#include "conformance/history/simulate.h"

namespace conformance::history {
namespace {

struct Totals {
  int illegal = 0;
  long reads = 0;
  long calls = 0;
  int undefined = 0;
  std::string example;
};

Totals JudgeMany(const Recipe& recipe, int ranks, int programs, Fault fault, std::uint64_t seed = 1) {
  Totals totals;
  for (int i = 0; i < programs; ++i) {
    const Program program = Generate(seed * 1000003 + static_cast<std::uint64_t>(i), ranks, recipe);
    const auto history = Simulate(program, seed + static_cast<std::uint64_t>(i), fault);
    EXPECT_TRUE(history.has_value()) << "program " << i << " does not end";
    if (!history) break;
    const Findings findings = CheckHistory(program, *history);
    totals.reads += findings.reads;
    totals.calls += findings.calls;
    totals.undefined += findings.undefined_locations;
    if (!findings.violation) continue;
    if (totals.illegal++ == 0) totals.example = findings.violation->clause + (": " + findings.violation->text);
  }
  return totals;
}

TEST(SimulateTest, HistoriesOfAWeakMachineAreLegal) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    for (int kinds = 0; kinds < 16; ++kinds) {
      Recipe recipe;
      recipe.barriers = (kinds & 1) != 0;
      recipe.mutexes = (kinds & 2) != 0;
      recipe.notifications = (kinds & 4) != 0;
      recipe.messages = (kinds & 8) != 0;
      recipe.loads_anywhere = ranks % 2 == 0;
      const Totals totals = JudgeMany(recipe, ranks, 40, Fault::kNone, static_cast<std::uint64_t>(kinds + 1));
      EXPECT_EQ(totals.illegal, 0) << totals.example;
      EXPECT_EQ(totals.undefined, 0);
      EXPECT_GT(totals.reads, 1000);
      EXPECT_GT(totals.calls, 40);
    }
  }
}

TEST(SimulateTest, HistoriesOfCountersAreLegal) {
  Recipe recipe;
  recipe.counters_only = true;
  recipe.steps = 300;
  const Totals totals = JudgeMany(recipe, 4, 20, Fault::kNone);
  EXPECT_EQ(totals.illegal, 0) << totals.example;
  EXPECT_GT(totals.calls, 20000);
}

TEST(SimulateTest, LostAndStaleRmwAreFoundAlmostAlwaysUnderContention) {
  Recipe recipe;
  recipe.counters_only = true;
  for (Fault fault : {Fault::kLostRmw, Fault::kStaleRmw}) EXPECT_GE(JudgeMany(recipe, 4, 20, fault).illegal, 19);
}

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsFound) {
  const Totals totals = JudgeMany(Recipe{}, 4, 100, GetParam());
  EXPECT_GE(totals.illegal, 5) << "of 100 programs";
  RecordProperty("illegal", totals.illegal);
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest,
                         ::testing::Values(Fault::kFenceDoesNothing, Fault::kFenceForgetsNonblocking,
                                           Fault::kNotifyDoesNotOrder, Fault::kBarrierDoesNotFence, Fault::kEarlyWait,
                                           Fault::kReorderedPuts, Fault::kGetOvertakesPut, Fault::kTornElement,
                                           Fault::kLostAccumulate, Fault::kTwiceAccumulated, Fault::kLostRmw,
                                           Fault::kStaleRmw, Fault::kMutexLetsTwoIn, Fault::kStrayWrite));

}  // namespace
}  // namespace conformance::history
