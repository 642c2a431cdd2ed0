// The schedule has the counts and means of the run that it stands for, and stays inside its areas.
#include "bench/kernels/call_mix.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace armci::bench {
namespace {

constexpr int kProcesses = 64;

TEST(CallMix, HasTheCountsOfTheRun) {
  std::map<CallKind, long> counts;
  const CallMix mix = MakeCallMix(kProcesses);
  for (const auto& calls : mix.calls) {
    for (const Call& call : calls) ++counts[call.kind];
  }
  EXPECT_EQ(counts[CallKind::kPut], 385 * kProcesses);
  EXPECT_EQ(counts[CallKind::kAccumulate], 428 * kProcesses);
  EXPECT_EQ(counts[CallKind::kGet], 55 * kProcesses);
  EXPECT_EQ(counts[CallKind::kFetchAndAdd], kProcesses * 3 / 2);
}

TEST(CallMix, HasTheMeansOfTheRun) {
  const CallMix mix = MakeCallMix(kProcesses);
  for (const KindOfCall& kind : kCallKinds) {
    double bytes = 0;
    double count = 0;
    for (const auto& calls : mix.calls) {
      for (const Call& call : calls) {
        if (call.kind != kind.kind) continue;
        bytes += 8 * static_cast<double>(call.length);
        ++count;
      }
    }
    const double expected = 8 * static_cast<double>(kind.mean);
    EXPECT_NEAR(bytes / count, expected, 0.05 * expected);
  }
}

TEST(CallMix, HasMeansNearThoseAlsoWithTwoProcesses) {
  const CallMix mix = MakeCallMix(2);
  double bytes = 0;
  for (const auto& calls : mix.calls) {
    for (const Call& call : calls) bytes += 8 * static_cast<double>(call.length);
  }
  const double expected = 2 * (385 * 2200.0 + 428 * 29'000.0 + 55 * 140'000.0);
  EXPECT_NEAR(bytes, expected, 0.1 * expected);
}

TEST(CallMix, StaysInsideItsAreas) {
  const CallMix mix = MakeCallMix(5);
  for (const auto& calls : mix.calls) {
    for (const Call& call : calls) {
      const long area = call.kind == CallKind::kPut   ? mix.put_area
                        : call.kind == CallKind::kGet ? kGetArea
                                                      : kAccumulateArea;
      ASSERT_TRUE(call.offset >= 0 && call.offset + call.length <= area);
      ASSERT_TRUE(call.target >= 0 && call.target < 5);
      ASSERT_TRUE(call.pattern >= 0 && call.pattern < kPatternPlaces);
    }
  }
}

TEST(CallMix, GivesEveryPutAPlaceOfItsOwn) {
  const CallMix mix = MakeCallMix(3);
  std::map<int, std::map<long, long>> ends;  // by target and offset
  for (const auto& calls : mix.calls) {
    for (const Call& call : calls) {
      if (call.kind == CallKind::kPut) ends[call.target][call.offset] = call.offset + call.length;
    }
  }
  for (const auto& [target, places] : ends) {
    long end = 0;
    for (const auto& [offset, next] : places) {
      EXPECT_GE(offset, end);
      end = next;
    }
  }
}

TEST(CallMix, ReachesEveryProcess) {
  for (int processes = 1; processes <= 8; ++processes) {
    std::set<int> targets;
    const CallMix mix = MakeCallMix(processes);
    for (const Call& call : mix.calls[0]) targets.insert(call.target);
    EXPECT_EQ(targets.size(), static_cast<size_t>(processes));
  }
}

TEST(CallMix, MixesTheKinds) {
  const CallMix mix = MakeCallMix(2);
  int changes = 0;
  for (size_t i = 1; i < mix.calls[0].size(); ++i) changes += mix.calls[0][i].kind != mix.calls[0][i - 1].kind;
  EXPECT_GT(changes, 200);
}

}  // namespace
}  // namespace armci::bench
