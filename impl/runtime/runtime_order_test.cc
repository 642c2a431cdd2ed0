// The order of stores by the runtime over a network that delivers puts as late and as disordered as it may.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>

#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::order_test {

using testing::FakeCallKind;
using testing::FakeNetwork;
using testing::InOrderTransport;
using testing::ReorderingTransport;

using Job = RuntimeForTest<ReorderingTransport>;
using InOrderJob = RuntimeForTest<InOrderTransport>;

constexpr std::size_t kWords = 3;  // of one store

// The ways to bring kWords consecutive words of process `proc`, `step` words apart, from value - 1 to value.
enum class Way { kContiguous, kStrided, kVector, kValue, kAccumulate, kFlag };
constexpr Way kWays[] = {Way::kContiguous, Way::kStrided, Way::kVector, Way::kValue, Way::kAccumulate, Way::kFlag};
constexpr const char* kWayNames[] = {"Contiguous", "Strided", "Vector", "Value", "Accumulate", "Flag"};

template <class AnyJob>
Status store(AnyJob& job, Way way, int proc, std::int64_t* words, std::int64_t value) {
  std::int64_t source[kWords] = {value, value, value};
  Strided shape{1, {8, kWords}, {8}, {8}};
  void* from[kWords];
  void* to[kWords];
  for (std::size_t i = 0; i < kWords; ++i) {
    from[i] = &source[i];
    to[i] = &words[i];
  }
  const Segments segments{from, to, 8, kWords};
  const std::int64_t scale = 1;
  const std::int64_t ones[kWords] = {1, 1, 1};
  Status status;
  switch (way) {
    case Way::kContiguous:
      return job->template contiguous<Kind::kPut>(source, words, sizeof source, proc, kBlocking);
    case Way::kStrided:
      return job->template strided<Kind::kPut>(source, words, shape, proc, kBlocking);
    case Way::kVector:
      return job->template vector<Kind::kPut>(&segments, 1, proc, kBlocking);
    case Way::kAccumulate:
      return job->template contiguous<Kind::kAcc>(ones, words, sizeof ones, proc, kBlocking,
                                                  {node::AccType::kLong, &scale});
    case Way::kValue:
    case Way::kFlag:
      for (std::size_t i = 0; i < kWords && status.ok(); ++i) {
        status = way == Way::kFlag ? job->put_flag(value, words + i, proc) : job->put_value(value, words + i, proc);
      }
      return status;
  }
  return status;
}

using Pair = std::tuple<Way, Way, FakeNetwork::Order>;
class StorePairTest : public ::testing::TestWithParam<Pair> {};

std::string pair_name(const ::testing::TestParamInfo<Pair>& info) {
  static constexpr const char* kOrders[] = {"AsIssued", "Reversed", "Shuffled"};
  return std::string(kWayNames[static_cast<int>(std::get<0>(info.param))]) + "Then" +
         kWayNames[static_cast<int>(std::get<1>(info.param))] + kOrders[static_cast<int>(std::get<2>(info.param))];
}

// A reader that reads whenever a store becomes visible. [ORD-1, ORD-5]
TEST_P(StorePairTest, AReaderOfTheLaterStoreSeesTheEarlier) {
  const auto [earlier, later, order] = GetParam();
  Job job({0, 1});
  job.network().set_flush_order(order, 20261);
  std::int64_t* data = job.at<std::int64_t>(1, 0);
  std::int64_t* flag = job.at<std::int64_t>(1, 1000);
  int violations = 0;
  job.network().on_visible = [&] {
    for (std::size_t f = 0; f < kWords; ++f) {
      for (std::size_t d = 0; d < kWords; ++d) violations += data[d] < flag[f];
    }
  };
  for (std::int64_t round = 1; round <= 20; ++round) {
    ASSERT_TRUE(store(job, earlier, 1, data, round).ok());
    ASSERT_TRUE(store(job, later, 1, flag, round).ok());
  }
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(violations, 0);
  EXPECT_EQ(flag[kWords - 1], 20);
}

INSTANTIATE_TEST_SUITE_P(Ways, StorePairTest,
                         ::testing::Combine(::testing::ValuesIn(kWays), ::testing::ValuesIn(kWays),
                                            ::testing::Values(FakeNetwork::Order::kReversed,
                                                              FakeNetwork::Order::kShuffled)),
                         pair_name);

class StoreTest : public ::testing::TestWithParam<Way> {};
std::string way_name(const ::testing::TestParamInfo<Way>& info) { return kWayNames[static_cast<int>(info.param)]; }
INSTANTIATE_TEST_SUITE_P(Ways, StoreTest, ::testing::ValuesIn(kWays), way_name);

TEST_P(StoreTest, AGetAfterItSeesIt) {
  Job job({0, 1});
  std::int64_t* words = job.at<std::int64_t>(1, 5);
  ASSERT_TRUE(store(job, GetParam(), 1, words, 1).ok());
  std::int64_t seen[kWords] = {};
  ASSERT_TRUE(job->contiguous<Kind::kGet>(words, seen, sizeof seen, 1, kBlocking).ok());
  for (std::int64_t word : seen) EXPECT_EQ(word, 1);
}

TEST_P(StoreTest, AStridedGetAfterItSeesIt) {
  Job job({0, 1});
  std::int64_t* words = job.at<std::int64_t>(1, 5);
  ASSERT_TRUE(store(job, GetParam(), 1, words, 1).ok());
  std::int64_t seen[2 * kWords] = {};
  ASSERT_TRUE(job->strided<Kind::kGet>(words, seen, Strided{1, {8, kWords}, {8}, {16}}, 1, kBlocking).ok());
  for (std::size_t i = 0; i < 2 * kWords; ++i) EXPECT_EQ(seen[i], i % 2 == 0 ? 1 : 0);
}

TEST_P(StoreTest, AnRmwAfterItSeesIt) {
  Job job({0, 1});
  std::int64_t* words = job.at<std::int64_t>(1, 5);
  ASSERT_TRUE(store(job, GetParam(), 1, words, 1).ok());
  std::int64_t before = -1;
  ASSERT_TRUE(job->rmw<std::int64_t>(node::RmwOp::kAdd, words, 41, 0, &before, 1).ok());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(words[0], 42);
}

TEST_P(StoreTest, TheSourceMayBeOverwrittenAtOnce) {
  Job job({0, 1});
  std::int64_t* words = job.at<std::int64_t>(1, 5);
  ASSERT_TRUE(store(job, GetParam(), 1, words, 1).ok());  // its source has gone out of scope
  [[maybe_unused]] volatile char scribble[4096] = {};
  ASSERT_TRUE(job->fence(1).ok());
  for (std::size_t i = 0; i < kWords; ++i) EXPECT_EQ(words[i], 1);
}

TEST(OrderTest, AWaitedNonBlockingPutIsSeenByAGet) {
  Job job({0, 1});
  armci_hdl_t handle{};
  const int value = 7;
  int seen = 0;
  ASSERT_TRUE(job->contiguous<Kind::kPut>(&value, job.memory(1), sizeof value, 1, through(&handle)).ok());
  ASSERT_TRUE(job->wait(&handle).ok());
  ASSERT_TRUE(job->get_value(job.memory(1), 1, &seen).ok());
  EXPECT_EQ(seen, 7);
}

TEST(OrderTest, AGetDoesNotSeeALaterPut) {
  Job job({0, 1});
  *job.at<int>(1, 0) = 1;
  int seen = 0;
  ASSERT_TRUE(job->contiguous<Kind::kGet>(job.memory(1), &seen, sizeof seen, 1, kBlocking).ok());
  ASSERT_TRUE(job->put_value(2, job.at<int>(1, 0), 1).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(seen, 1);
}

TEST(OrderTest, AGetAfterAnRmwSeesIt) {
  Job job({0, 1});
  std::int32_t before = 0;
  std::int32_t seen = 0;
  ASSERT_TRUE(job->rmw<std::int32_t>(node::RmwOp::kSwap, job.at<std::int32_t>(1, 1), 9, 0, &before, 1).ok());
  ASSERT_TRUE(job->get_value(job.at<std::int32_t>(1, 1), 1, &seen).ok());
  EXPECT_EQ(seen, 9);
}

TEST(OrderTest, OnlyTheTargetThatHasUnflushedStoresIsFlushed) {
  Job job({0, 1, 2});
  int seen = 0;
  ASSERT_TRUE(job->put_value(1, job.at<int>(1, 0), 1).ok());
  ASSERT_TRUE(job->get_value(job.at<int>(2, 0), 2, &seen).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kFlush), 0);
  ASSERT_TRUE(job->get_value(job.at<int>(1, 0), 1, &seen).ok());
  EXPECT_EQ(job.network().flushed(), std::vector<int>{1});
}

TEST(OrderTest, ATransportThatKeepsTheOrderIsNotFlushed) {
  InOrderJob job({0, 1});
  std::int64_t* words = job.at<std::int64_t>(1, 0);
  for (Way way : {Way::kContiguous, Way::kStrided, Way::kVector, Way::kValue, Way::kFlag}) {
    ASSERT_TRUE(store(job, way, 1, words, 3).ok());
  }
  std::int64_t seen = 0;
  ASSERT_TRUE(job->get_value(words, 1, &seen).ok());
  EXPECT_EQ(seen, 3);
  ASSERT_TRUE(job->rmw<std::int64_t>(node::RmwOp::kAdd, words, 1, 0, &seen, 1).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kFlush), 0);
}

TEST(OrderTest, APutIsNotVisibleBeforeAFence) {
  // Not a promise: shows that the fake delays, so that the other tests can fail.
  Job job({0, 1});
  ASSERT_TRUE(job->put_value(1, job.at<int>(1, 0), 1).ok());
  EXPECT_EQ(*job.at<int>(1, 0), 0);
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<int>(1, 0), 1);
}

// Thread B's second store comes while thread A's fence is still on its way: A's flush is no reason for B to think that
// its own first store has arrived. [THR-1]
TEST(OrderTest, AFenceUnderWayInAnotherThreadOrdersNothing) {
  Job job({0, 1});
  std::atomic<bool> flushing{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> first{true};
  job.network().on_flush = [&](int) {
    if (!first.exchange(false)) return;
    flushing.store(true);
    while (!go_on.load()) std::this_thread::yield();
  };
  ASSERT_TRUE(job->put_value(1, job.at<int>(1, 0), 1).ok());
  std::thread other([&] { EXPECT_TRUE(job->fence(1).ok()); });
  while (!flushing.load()) std::this_thread::yield();
  EXPECT_TRUE(job->put_value(1, job.at<int>(1, 100), 1).ok());
  const auto late = job.network().invisible(1);
  if (!late.empty()) job.network().make_visible(late.back());  // the network prefers the second
  const int data = *job.at<int>(1, 0);
  const int flag = *job.at<int>(1, 100);
  go_on.store(true);
  other.join();
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(data, 1);
}

// A store issued during another thread's flush is still unflushed.
TEST(OrderTest, AStoreDuringAFlushIsFlushedByTheNextFence) {
  Job job({0, 1});
  bool once = true;
  job.network().on_flush = [&](int) {
    if (!std::exchange(once, false)) return;
    std::thread([&] {
      const int value = 5;
      EXPECT_TRUE(job->contiguous<Kind::kPut>(&value, job.memory(1) + 64, sizeof value, 1, kBlocking).ok());
    }).join();
  };
  ASSERT_TRUE(job->put_value(1, job.at<int>(1, 0), 1).ok());
  ASSERT_TRUE(job->fence(1).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<int>(1, 16), 5);
}

}  // namespace armci::runtime::order_test
