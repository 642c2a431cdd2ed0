#include "impl/runtime/stats.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace armci::runtime {
namespace {

constexpr const char* kNames[] = {"ARMCI_Put", "ARMCI_Get", "ARMCI_Fence"};

TEST(SizeBucketTest, PowersOfTwo) {
  EXPECT_EQ(size_bucket(0), 0);
  EXPECT_EQ(size_bucket(1), 1);
  EXPECT_EQ(size_bucket(2), 2);
  EXPECT_EQ(size_bucket(3), 2);
  EXPECT_EQ(size_bucket(4), 3);
  EXPECT_EQ(size_bucket((uint64_t{1} << 20) - 1), 20);
  EXPECT_EQ(size_bucket(uint64_t{1} << 20), 21);
  EXPECT_EQ(size_bucket(~uint64_t{0}), kSizeBuckets - 1);
}

TEST(StatsTest, DisabledRecordsNothing) {
  Stats stats;
  stats.record(0, 8, 10);
  EXPECT_FALSE(stats.enabled());
  EXPECT_EQ(stats.snapshot(0).calls, 0u);
  EXPECT_EQ(stats.find("ARMCI_Put"), -1);
}

TEST(StatsTest, CountsCallsBytesTimeAndSizes) {
  Stats stats;
  ASSERT_TRUE(stats.initialise(kNames, 3).ok());
  stats.record(0, 8, 100);
  stats.record(0, 4096, 50);
  stats.record(2, 0, 7);
  stats.record(3, 1, 1);
  stats.record(-1, 1, 1);
  const CallStats put = stats.snapshot(0);
  EXPECT_EQ(put.calls, 2u);
  EXPECT_EQ(put.bytes, 4104u);
  EXPECT_EQ(put.nanoseconds, 150u);
  EXPECT_EQ(put.histogram[size_bucket(8)], 1u);
  EXPECT_EQ(put.histogram[size_bucket(4096)], 1u);
  EXPECT_EQ(stats.snapshot(1).calls, 0u);
  EXPECT_EQ(stats.snapshot(2).histogram[0], 1u);
  EXPECT_EQ(stats.find("ARMCI_Fence"), 2);
  EXPECT_EQ(stats.find("ARMCI_Lock"), -1);
}

TEST(StatsTest, ResetAndFinaliseForget) {
  Stats stats;
  ASSERT_TRUE(stats.initialise(kNames, 3).ok());
  stats.record(1, 16, 1);
  stats.reset();
  EXPECT_EQ(stats.snapshot(1).calls, 0u);
  EXPECT_EQ(stats.snapshot(1).bytes, 0u);
  stats.record(1, 16, 1);
  EXPECT_EQ(stats.snapshot(1).calls, 1u);
  stats.finalise();
  EXPECT_FALSE(stats.enabled());
  EXPECT_EQ(stats.snapshot(1).calls, 0u);
}

TEST(StatsTest, ThreadsLoseNoCall) {
  constexpr int kThreads = 12;
  constexpr int kCalls = 5000;
  Stats stats;
  ASSERT_TRUE(stats.initialise(kNames, 3).ok());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) stats.record(call % 2, 8, 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int call = 0; call < 2; ++call) {
    const CallStats counted = stats.snapshot(call);
    EXPECT_EQ(counted.calls, uint64_t{kThreads} * kCalls / 2);
    EXPECT_EQ(counted.bytes, counted.calls * 8);
    EXPECT_EQ(counted.nanoseconds, counted.calls * 3);
    EXPECT_EQ(counted.histogram[size_bucket(8)], counted.calls);
  }
}

}  // namespace
}  // namespace armci::runtime
