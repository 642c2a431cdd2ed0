#include "bench/common/comparison.h"

#include <gtest/gtest.h>

namespace armci::bench {
namespace {

Series Constant(const std::string& name, Role role, double seconds) {
  Series series;
  series.name = name;
  series.role = role;
  series.seconds = {seconds, seconds, seconds};
  return series;
}

TEST(Compare, TakesTheFastestCandidateAsBaseline) {
  const CaseResult result = Compare({}, {},
                                    {Constant("armci", Role::kSubject, 8), Constant("slow", Role::kBaseline, 5),
                                     Constant("fast", Role::kBaseline, 2)});
  EXPECT_EQ(result.baseline_name, "fast");
  EXPECT_DOUBLE_EQ(result.ratio, 4);
  EXPECT_DOUBLE_EQ(result.ratio_paired, 4);
}

TEST(Compare, IgnoresDroppedCandidates) {
  Series dropped = Constant("dropped", Role::kBaseline, 1);
  dropped.seconds.clear();
  const CaseResult result =
      Compare({}, {}, {Constant("armci", Role::kSubject, 8), dropped, Constant("kept", Role::kBaseline, 2)});
  EXPECT_EQ(result.baseline_name, "kept");
}

TEST(Compare, TimeTargetIsMetUpToItsFactor) {
  const Target target = {Limit::kTimeAtMost, 5};
  const auto verdict = [&](double armci) {
    return Compare({}, target, {Constant("armci", Role::kSubject, armci), Constant("raw", Role::kBaseline, 2)}).verdict;
  };
  EXPECT_EQ(verdict(10), Verdict::kOk);
  EXPECT_EQ(verdict(10.1), Verdict::kMiss);
}

TEST(Compare, AllowanceAddsToATimeTarget) {
  const Target target = {Limit::kTimeAtMost, 6};
  const auto verdict = [&](double armci) {
    return Compare({}, target,
                   {Constant("armci", Role::kSubject, armci), Constant("raw", Role::kBaseline, 2),
                    Constant("barrier", Role::kAllowance, 3)})
        .verdict;
  };
  EXPECT_EQ(verdict(15), Verdict::kOk);
  EXPECT_EQ(verdict(15.1), Verdict::kMiss);
}

TEST(Compare, RateTargetComparesRates) {
  const Target target = {Limit::kRateAtLeast, 0.8};
  const CaseResult enough =
      Compare({}, target, {Constant("armci", Role::kSubject, 5), Constant("raw", Role::kBaseline, 4)});
  EXPECT_DOUBLE_EQ(enough.ratio, 0.8);
  EXPECT_DOUBLE_EQ(enough.ratio_paired, 0.8);
  EXPECT_EQ(enough.verdict, Verdict::kOk);
  const CaseResult short_of_it =
      Compare({}, target, {Constant("armci", Role::kSubject, 5.1), Constant("raw", Role::kBaseline, 4)});
  EXPECT_EQ(short_of_it.verdict, Verdict::kMiss);
}

TEST(Compare, BandwidthWithoutATargetIsComparedAsARate) {
  CaseLabel label;
  label.bytes = 100;
  const CaseResult result =
      Compare(label, {}, {Constant("armci", Role::kSubject, 2), Constant("raw", Role::kBaseline, 4)});
  EXPECT_DOUBLE_EQ(result.ratio, 2);
}

TEST(Compare, AbsoluteTimeNeedsNoBaseline) {
  const Target target = {Limit::kSecondsAtMost, 200e-6};
  EXPECT_EQ(Compare({}, target, {Constant("armci", Role::kSubject, 199e-6)}).verdict, Verdict::kOk);
  EXPECT_EQ(Compare({}, target, {Constant("armci", Role::kSubject, 201e-6)}).verdict, Verdict::kMiss);
}

TEST(Compare, WithoutATargetThereIsNoVerdict) {
  EXPECT_EQ(Compare({}, {}, {Constant("armci", Role::kSubject, 1), Constant("raw", Role::kBaseline, 9)}).verdict,
            Verdict::kInfo);
}

TEST(CountedCase, IsJudgedByItsValue) {
  EXPECT_EQ(CountedCase({}, {Limit::kValueAtMost, 0}, 0).verdict, Verdict::kOk);
  EXPECT_EQ(CountedCase({}, {Limit::kValueAtMost, 0}, 1).verdict, Verdict::kMiss);
}

}  // namespace
}  // namespace armci::bench
