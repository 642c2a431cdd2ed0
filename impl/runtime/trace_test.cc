#include "impl/runtime/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace armci::runtime {
namespace {

constexpr const char* kNames[] = {"ARMCI_Put", "ARMCI_Fence", "armci_msg_bcast", "ARMCI_Rmw"};
constexpr const char* kCategories[] = {"transfer", "wait", "message", "atomic"};
constexpr TraceNames kTable = {kNames, 4, [](int call) { return kCategories[call]; }};

nlohmann::json Parsed(const TraceEvent& event, const ClockDifference& clock = {}, std::int64_t origin_ns = 0) {
  return nlohmann::json::parse(trace_line(event, kTable, 3, 1, origin_ns, clock));
}

TEST(TraceLineTest, IsACompleteEventOfTheFormat) {
  const nlohmann::json line = Parsed({1'500, 250, 8, 0, 2});
  EXPECT_EQ(line["name"], "ARMCI_Put");
  EXPECT_EQ(line["ph"], "X");
  EXPECT_EQ(line["cat"], "transfer");
  EXPECT_DOUBLE_EQ(line["ts"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(line["dur"].get<double>(), 0.25);
  EXPECT_EQ(line["pid"], 3);
  EXPECT_EQ(line["tid"], 1);
  EXPECT_EQ(line["args"], nlohmann::json({{"peer", 2}, {"bytes", 8}}));
}

TEST(TraceLineTest, WhatThereIsNotIsLeftOut) {
  EXPECT_EQ(Parsed({0, 0, 0, 1, -1})["args"], nlohmann::json::object());
  EXPECT_EQ(Parsed({0, 0, 64, 2, -1})["args"], nlohmann::json({{"bytes", 64}}));
  EXPECT_EQ(Parsed({0, 0, 0, 3, 0})["args"], nlohmann::json({{"peer", 0}}));
  EXPECT_EQ(Parsed({0, 0, 0, 99, -1})["name"], "unknown");
}

TEST(TraceLineTest, CategoryIsThatOfTheTable) {
  EXPECT_EQ(Parsed({0, 0, 0, 1, 0})["cat"], "wait");
  EXPECT_EQ(Parsed({0, 0, 0, 2, 0})["cat"], "message");
  EXPECT_EQ(Parsed({0, 0, 0, 99, 0})["cat"], "other");
}

TEST(TraceLineTest, TimesBeforeTheOriginAreNegative) {
  EXPECT_DOUBLE_EQ(Parsed({0, 0, 0, 0, 0}, {}, 1'005)["ts"].get<double>(), -1.005);
}

TEST(TracePathTest, ProcessAndStartAreFilledIn) {
  EXPECT_EQ(trace_path("a-%p-%n.json", 12, 3), "a-12-3.json");
  EXPECT_EQ(trace_path("100%.json", 12, 3), "100%.json");
  EXPECT_EQ(trace_path("%", 12, 3), "%");
}

TEST(TraceLineTest, TimesAreThoseOfRank0) {
  // Ahead by 1000 ns when it read 2000, by 3000 when it read 12000: in the middle by 2000.
  const ClockDifference clock = {2'000, 1'000, 12'000, 3'000};
  EXPECT_EQ(clock.correct(2'000), 1'000);
  EXPECT_EQ(clock.correct(7'000), 5'000);
  EXPECT_EQ(clock.correct(12'000), 9'000);
  EXPECT_DOUBLE_EQ(Parsed({7'000, 10, 0, 0, 0}, clock, 4'000)["ts"].get<double>(), 1.0);
}

TEST(TraceLineTest, LongTimesKeepTheirNanoseconds) {
  const std::int64_t day_ns = 86'400'000'000'000;
  EXPECT_EQ(
      trace_line({day_ns + 1, day_ns, 0, 0, -1}, kTable, 0, 0, 0, {}),
      R"({"name":"ARMCI_Put","cat":"transfer","ph":"X","ts":86400000000.001,"dur":86400000000.000,"pid":0,"tid":0,"args":{}})");
}

}  // namespace
}  // namespace armci::runtime
