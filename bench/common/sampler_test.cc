// The sampler on synthetic actions, whose times are known instead of measured.
#include "bench/common/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace armci::bench {
namespace {

// An action that claims a fixed cost per iteration plus a fixed cost per sample and writes down when it ran.
Action Synthetic(const std::string& name, Role role, double seconds, std::vector<std::string>* log = nullptr,
                 double overhead_s = 0) {
  return {name, role, [=](long iterations) {
            if (log != nullptr) log->push_back(name);
            return overhead_s + seconds * static_cast<double>(iterations);
          }};
}

SamplingPlan ShortPlan() {
  SamplingPlan plan;
  plan.budget_s = 20e-3;
  plan.sample_s = 0.5e-3;
  plan.rounds_min = 5;
  plan.rounds_max = 1000;
  return plan;
}

TEST(Sampler, ReportsTheCostPerIteration) {
  const auto all = SampleInterleaved({Synthetic("a", Role::kSubject, 10e-9)}, ShortPlan());
  ASSERT_EQ(all.size(), 1u);
  for (double seconds : all[0].seconds) EXPECT_NEAR(seconds, 10e-9, 1e-15);
}

TEST(Sampler, ChoosesIterationsForTheWantedSampleLength) {
  const auto all = SampleInterleaved({Synthetic("a", Role::kSubject, 10e-9)}, ShortPlan());
  EXPECT_EQ(all[0].iterations, 50'000);
}

TEST(Sampler, RunsAnActionLongerThanASampleOnce) {
  const auto all = SampleInterleaved({Synthetic("a", Role::kSubject, 4e-3)}, ShortPlan());
  EXPECT_EQ(all[0].iterations, 1);
}

TEST(Sampler, SpendsTheBudget) {
  const auto all =
      SampleInterleaved({Synthetic("a", Role::kSubject, 10e-9), Synthetic("b", Role::kBaseline, 20e-9)}, ShortPlan());
  EXPECT_EQ(all[0].seconds.size(), 20u);  // 20 ms over two samples of 0.5 ms a round
  EXPECT_EQ(all[1].seconds.size(), 20u);
}

TEST(Sampler, KeepsTheLeastAndTheMostRounds) {
  SamplingPlan plan = ShortPlan();
  EXPECT_EQ(SampleInterleaved({Synthetic("slow", Role::kSubject, 5e-3)}, plan)[0].seconds.size(), 5u);
  plan.rounds_max = 7;
  EXPECT_EQ(SampleInterleaved({Synthetic("fast", Role::kSubject, 1e-9)}, plan)[0].seconds.size(), 7u);
}

TEST(Sampler, TakesFewerRoundsWhereTheLeastWouldTakeTheBudgetSeveralTimes) {
  SamplingPlan plan = ShortPlan();
  plan.rounds_min = 11;
  EXPECT_EQ(SampleInterleaved({Synthetic("slow", Role::kSubject, 5e-3)}, plan)[0].seconds.size(), 11u);
  EXPECT_EQ(SampleInterleaved({Synthetic("slower", Role::kSubject, 10e-3)}, plan)[0].seconds.size(), 6u);
  EXPECT_EQ(SampleInterleaved({Synthetic("slowest", Role::kSubject, 1.0)}, plan)[0].seconds.size(), 3u);
  plan.rounds_min = 1;
  EXPECT_EQ(SampleInterleaved({Synthetic("a program", Role::kSubject, 1.0)}, plan)[0].seconds.size(), 1u);
}

TEST(Sampler, RunsWhatIsFarTooSlowOnceBeforeItIsMeasured) {
  std::vector<std::string> log;
  SampleInterleaved({Synthetic("slow", Role::kSubject, 1.0, &log)}, ShortPlan());
  EXPECT_EQ(log.size(), 4u);
}

TEST(Sampler, DropsOnlyBaselineCandidatesFarBehindTheBest) {
  const auto all =
      SampleInterleaved({Synthetic("subject", Role::kSubject, 100e-9), Synthetic("good", Role::kBaseline, 10e-9),
                         Synthetic("close", Role::kBaseline, 14e-9), Synthetic("far", Role::kBaseline, 16e-9),
                         Synthetic("context", Role::kContext, 500e-9)},
                        ShortPlan());
  std::map<std::string, bool> dropped;
  for (const Series& series : all) dropped[series.name] = series.dropped;
  EXPECT_EQ(dropped, (std::map<std::string, bool>{
                         {"subject", false}, {"good", false}, {"close", false}, {"far", true}, {"context", false}}));
  EXPECT_TRUE(all[3].seconds.empty());
  EXPECT_NEAR(all[3].calibrated_s, 16e-9, 1e-15);
}

TEST(Sampler, TimesEveryActionOnceARoundInAChangingOrder) {
  std::vector<std::string> log;
  const auto all = SampleInterleaved(
      {Synthetic("a", Role::kSubject, 1e-6, &log), Synthetic("b", Role::kContext, 1e-6, &log)}, ShortPlan());
  const size_t rounds = all[0].seconds.size();
  ASSERT_GE(rounds, 10u);
  int a_first = 0;
  for (size_t round = 0; round < rounds; ++round) {
    const size_t at = log.size() - 2 * (rounds - round);
    ASSERT_NE(log[at], log[at + 1]);
    a_first += log[at] == "a";
  }
  EXPECT_GT(a_first, 0);
  EXPECT_LT(a_first, static_cast<int>(rounds));
}

TEST(Sampler, DecidesTheSameForTheSameTimes) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (std::vector<std::string>* log : {&first, &second}) {
    SampleInterleaved({Synthetic("a", Role::kSubject, 3e-6, log), Synthetic("b", Role::kBaseline, 4e-6, log),
                       Synthetic("c", Role::kBaseline, 9e-6, log)},
                      ShortPlan());
  }
  EXPECT_EQ(first, second);
}

TEST(Sampler, TheSubjectAndWhatIsMarkedAreOfTheLibrary) {
  const auto all = SampleInterleaved(
      {Synthetic("subject", Role::kSubject, 1e-6), OfTheLibrary(Synthetic("row by row", Role::kBaseline, 1e-6)),
       Synthetic("memcpy", Role::kBaseline, 1e-6)},
      ShortPlan());
  EXPECT_EQ(all[0].layer, Layer::kLibrary);
  EXPECT_EQ(all[1].layer, Layer::kLibrary);
  EXPECT_EQ(all[2].layer, Layer::kRaw);
}

TEST(Sampler, LoopRunsItsBodyAsOftenAsAsked) {
  long runs = 0;
  Loop("count", Role::kSubject, [&runs] { ++runs; }).seconds_for(123);
  EXPECT_EQ(runs, 123);
}

}  // namespace
}  // namespace armci::bench
