// Shrinking without a job: whether a program fails is said by a rule, or by the simulated machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "conformance/history/check.h"
#include "conformance/history/generate.h"
#include "conformance/history/shrink.h"
#include "conformance/history/simulate.h"

namespace conformance::history {
namespace {

Trial FailsIf(bool fails) { return fails ? Trial::kFails : Trial::kPasses; }

int Count(const Program& program, Kind kind) {
  return static_cast<int>(
      std::count_if(program.steps.begin(), program.steps.end(), [&](const Step& step) { return step.kind == kind; }));
}

// So many steps that everything occurs.
Recipe Long() {
  Recipe recipe;
  recipe.steps = 200;
  return recipe;
}

TEST(ShrinkTest, OnlyWhatMattersRemains) {
  const Program program = Generate(1, 4, Recipe{});
  ASSERT_GT(Count(program, Kind::kSwap), 1);
  ASSERT_GT(Count(program, Kind::kPut), 3);
  int asked = 0;
  const Program smallest = Shrink(program, [&](const Program& candidate) {
    ++asked;
    return FailsIf(Count(candidate, Kind::kSwap) >= 1 && Count(candidate, Kind::kPut) >= 2);
  });
  EXPECT_EQ(smallest.steps.size(), 3u);
  EXPECT_EQ(Count(smallest, Kind::kPut), 2);
  EXPECT_LT(asked, 1000);
}

TEST(ShrinkTest, TransfersBecomeSimple) {
  const Program smallest = Shrink(Generate(2, 3, Recipe{}), [](const Program& candidate) {
    return FailsIf(Count(candidate, Kind::kAccumulate) >= 1);
  });
  ASSERT_EQ(smallest.steps.size(), 1u);
  const Step& step = smallest.steps[0];
  EXPECT_EQ(step.cells.size(), 1u);
  EXPECT_EQ(step.values.size(), 1u);
  EXPECT_EQ(step.mode, Mode::kBlocking);
  EXPECT_EQ(step.shape, Shape::kContiguous);
  EXPECT_EQ(step.scale, 1);
}

TEST(ShrinkTest, WhatTheFailureNeedsIsKept) {
  const Program smallest = Shrink(Generate(3, 3, Long()), [](const Program& candidate) {
    return FailsIf(std::any_of(candidate.steps.begin(), candidate.steps.end(), [](const Step& step) {
      return step.kind == Kind::kPut && step.mode == Mode::kAggregate && step.cells.size() >= 2;
    }));
  });
  ASSERT_EQ(smallest.steps.size(), 1u);
  EXPECT_EQ(smallest.steps[0].mode, Mode::kAggregate);
}

TEST(ShrinkTest, UnitsStayTogether) {
  const auto broken = [](const Program& program) {
    std::map<int, int> sides;
    for (const Step& step : program.steps) {
      const bool first = step.kind == Kind::kLock || step.kind == Kind::kNotify || step.kind == Kind::kSend;
      const bool second = step.kind == Kind::kUnlock || step.kind == Kind::kAwait || step.kind == Kind::kReceive;
      sides[step.unit] += (first ? 1 : 0) - (second ? 1 : 0);
    }
    return std::any_of(sides.begin(), sides.end(), [](const auto& entry) { return entry.second != 0; });
  };
  Shrink(Generate(4, 4, Recipe{}), [&](const Program& candidate) {
    EXPECT_FALSE(broken(candidate));
    return FailsIf(Count(candidate, Kind::kNotify) >= 1 && Count(candidate, Kind::kLock) >= 2);
  });
}

TEST(ShrinkTest, StopsWhenToldTo) {
  int asked = 0;
  const Program program = Generate(5, 4, Recipe{});
  const Program smallest = Shrink(program, [&](const Program&) {
    ++asked;
    return asked < 3 ? Trial::kFails : Trial::kStop;
  });
  EXPECT_EQ(asked, 3);
  EXPECT_LT(smallest.steps.size(), program.steps.size());
}

TEST(ShrinkTest, AProgramThatNeverFailsAgainStaysAsItIs) {
  const Program program = Generate(6, 4, Recipe{});
  EXPECT_EQ(Shrink(program, [](const Program&) { return Trial::kPasses; }), program);
}

class ShrinkFaultTest : public ::testing::TestWithParam<Fault> {};

// Every candidate must come to its end on the machine, and the smallest still shows the fault in a few lines.
TEST_P(ShrinkFaultTest, FaultsOfTheMachineBecomeSmallPrograms) {
  const auto fails = [](const Program& program) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto history = Simulate(program, seed, GetParam());
      EXPECT_TRUE(history.has_value()) << TextOf(program);
      if (history && CheckHistory(program, *history).violation) return true;
    }
    return false;
  };
  for (std::uint64_t seed = 1;; ++seed) {
    const Program program = Generate(seed, 3, Recipe{});
    if (!fails(program)) continue;
    const Program smallest = Shrink(program, [&](const Program& candidate) { return FailsIf(fails(candidate)); });
    EXPECT_TRUE(fails(smallest));
    EXPECT_LE(smallest.steps.size(), 10u) << TextOf(smallest);
    break;
  }
}

INSTANTIATE_TEST_SUITE_P(Some, ShrinkFaultTest,
                         ::testing::Values(Fault::kFenceDoesNothing, Fault::kNotifyDoesNotOrder, Fault::kReorderedPuts,
                                           Fault::kTornElement, Fault::kLostAccumulate, Fault::kStaleRmw));

}  // namespace
}  // namespace conformance::history
