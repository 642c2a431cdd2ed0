// Read-modify-write and notification over transports with atomics of 64 bits only, and of 32 bits too.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::atomics_test {

using node::RmwOp;
using testing::FakeCallKind;
using testing::FakeTransport;
using testing::ReorderingTransport;

using Job = RuntimeForTest<ReorderingTransport>;
using NarrowJob = RuntimeForTest<testing::NarrowAtomicsTransport>;
using RmwJob = RuntimeForTest<testing::RmwTransport>;
using NodeJob = RuntimeForTest<FakeTransport<false, Atomicity::kNodeCpu, false>>;

constexpr RmwOp kOps[] = {RmwOp::kAdd, RmwOp::kSwap, RmwOp::kCompareSwap, RmwOp::kAnd,
                          RmwOp::kOr,  RmwOp::kXor,  RmwOp::kMin,         RmwOp::kMax};

// A model of each operation, written independently.
template <class Value>
Value model(RmwOp op, Value old, Value operand, Value compare) {
  using Wide = std::conditional_t<std::is_signed_v<Value>, __int128, unsigned __int128>;
  switch (op) {
    case RmwOp::kAdd:
      return static_cast<Value>(static_cast<Wide>(old) + static_cast<Wide>(operand));
    case RmwOp::kSwap:
      return operand;
    case RmwOp::kCompareSwap:
      return old == compare ? operand : old;
    case RmwOp::kAnd:
      return static_cast<Value>(old & operand);
    case RmwOp::kOr:
      return static_cast<Value>(old | operand);
    case RmwOp::kXor:
      return static_cast<Value>(old ^ operand);
    case RmwOp::kMin:
      return std::min(old, operand);
    case RmwOp::kMax:
      return std::max(old, operand);
    default:
      break;  // no operation of the interface
  }
  return old;
}

template <class Value>
class RmwTest : public ::testing::Test {};
using Types = ::testing::Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RmwTest, Types);

TYPED_TEST(RmwTest, RandomOperationsAgreeWithAModel) {
  using Value = TypeParam;
  std::mt19937_64 random(20270);
  Job job({0, 1});
  NarrowJob narrow({0, 1});
  RmwJob whole({0, 1});
  NodeJob near({0, 0});
  constexpr std::size_t kElements = 16;
  std::vector<Value> expected(kElements);
  const Value extremes[] = {0, 1, static_cast<Value>(-1), std::numeric_limits<Value>::min(),
                            std::numeric_limits<Value>::max()};
  const auto any = [&] { return random() % 2 == 0 ? extremes[random() % 5] : static_cast<Value>(random()); };
  for (int round = 0; round < 3000; ++round) {
    const std::size_t i = random() % kElements;
    const RmwOp op = kOps[random() % 8];
    const Value operand = any();
    const Value compare = random() % 2 == 0 ? expected[i] : any();
    Value before{};
    Value near_before{};
    Value narrow_before{};
    Value whole_before{};
    ASSERT_TRUE(job->template rmw<Value>(op, job.template at<Value>(1, i), operand, compare, &before, 1).ok());
    ASSERT_TRUE(near->template rmw<Value>(op, near.template at<Value>(1, i), operand, compare, &near_before, 1).ok());
    ASSERT_TRUE(
        narrow->template rmw<Value>(op, narrow.template at<Value>(1, i), operand, compare, &narrow_before, 1).ok());
    ASSERT_TRUE(
        whole->template rmw<Value>(op, whole.template at<Value>(1, i), operand, compare, &whole_before, 1).ok());
    ASSERT_EQ(before, expected[i]);
    ASSERT_EQ(whole_before, expected[i]);
    ASSERT_EQ(narrow_before, expected[i]);
    ASSERT_EQ(near_before, expected[i]);
    expected[i] = model(op, expected[i], operand, compare);
    // Neighbours included: nothing but the element changes.
    ASSERT_EQ(std::memcmp(job.memory(1), expected.data(), kElements * sizeof(Value)), 0) << "round " << round;
    ASSERT_EQ(std::memcmp(narrow.memory(1), expected.data(), kElements * sizeof(Value)), 0) << "round " << round;
    ASSERT_EQ(std::memcmp(whole.memory(1), expected.data(), kElements * sizeof(Value)), 0) << "round " << round;
    ASSERT_EQ(std::memcmp(near.memory(1), expected.data(), kElements * sizeof(Value)), 0) << "round " << round;
  }
  EXPECT_TRUE(near.network().calls().empty());
}

TEST(NonBlockingRmwTest, TheValueBeforeIsThereAfterAWaitOrAFence) {
  RmwJob job({0, 1});
  *job.at<std::uint32_t>(1, 0) = 0x80000000u;
  std::uint32_t least = 7;
  armci_hdl_t handle{};
  job.network().hold();
  ASSERT_TRUE(job->rmw<std::uint32_t>(RmwOp::kMin, job.memory(1), 5, 0, &least, 1, through(&handle)).ok());
  bool done = true;
  ASSERT_TRUE(job->test(&handle, &done).ok());
  EXPECT_FALSE(done);
  EXPECT_EQ(least, 7u);
  job.network().release_held();
  ASSERT_TRUE(job->wait(&handle).ok());
  EXPECT_EQ(least, 0x80000000u);
  EXPECT_EQ(*job.at<std::uint32_t>(1, 0), 5u);
  EXPECT_EQ(job.network().operations[0].op, RmwOp::kUnsignedMin);
  std::int64_t before = 7;
  ASSERT_TRUE(job->rmw<std::int64_t>(RmwOp::kXor, job.memory(1), 4, 0, &before, 1, through(nullptr)).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(before, 5);
}

TEST(NonBlockingRmwTest, IsCompleteAtReturnWithoutAnOperationOfTheTransport) {
  Job job({0, 1});
  std::int64_t before = 7;
  armci_hdl_t handle{};
  ASSERT_TRUE(job->rmw<std::int64_t>(RmwOp::kXor, job.memory(1), 4, 0, &before, 1, through(&handle)).ok());
  EXPECT_EQ(before, 0);
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), 4);
}

TEST(RmwWordTest, SumsWrapAround) {
  Job job({0, 1});
  *job.at<std::int32_t>(1, 0) = std::numeric_limits<std::int32_t>::max();
  *job.at<std::int32_t>(1, 1) = 5;
  std::int32_t before = 0;
  ASSERT_TRUE(job->rmw<std::int32_t>(RmwOp::kAdd, job.memory(1), 1, 0, &before, 1).ok());
  EXPECT_EQ(*job.at<std::int32_t>(1, 0), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(*job.at<std::int32_t>(1, 1), 5);
}

TEST(RmwWordTest, AnotherProcesssChangeOfTheNeighbourIsKept) {
  for (std::size_t mine : {0, 1}) {
    Job job({0, 1});
    int others = 0;
    job.network().before_atomic = [&] {
      if (others < 3) *job.at<std::int32_t>(1, 1 - mine) = ++others;  // between our read and our compare-and-swap
    };
    std::int32_t before = -1;
    ASSERT_TRUE(job->rmw<std::int32_t>(RmwOp::kAdd, job.at<std::int32_t>(1, mine), 7, 0, &before, 1).ok());
    EXPECT_EQ(before, 0);
    EXPECT_EQ(*job.at<std::int32_t>(1, mine), 7);
    EXPECT_EQ(*job.at<std::int32_t>(1, 1 - mine), 3);
  }
}

TEST(RmwWordTest, AnotherProcesssChangeOfTheWordIsCounted) {
  Job job({0, 1});
  int others = 0;
  job.network().before_atomic = [&] {
    if (others < 3) *job.at<std::int64_t>(1, 0) = ++others;
  };
  std::int64_t before = -1;
  ASSERT_TRUE(job->rmw<std::int64_t>(RmwOp::kXor, job.memory(1), 16, 0, &before, 1).ok());
  EXPECT_EQ(before, 3);
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), 19);
}

TEST(RmwWordTest, AnElementOfFourBytesChangesAloneWhereTheTransportCan) {
  NarrowJob job({0, 1});
  int others = 0;
  job.network().before_atomic = [&] {
    if (others < 3) *job.at<std::int32_t>(1, 1) = ++others;  // the neighbour
  };
  std::int32_t before = -1;
  for (const RmwOp op : kOps) {
    job.network().forget_calls();
    ASSERT_TRUE(job->rmw<std::int32_t>(op, job.memory(1), 7, 0, &before, 1).ok());
    const auto atomics = job.network().calls(FakeCallKind::kAtomic);
    ASSERT_EQ(atomics.size(), 1u) << "a change of the neighbour is none of the element";
    EXPECT_EQ(atomics[0].bytes, sizeof(std::int32_t));
  }
}

TEST(RmwWordTest, OneOperationWhereTheTransportHasIt) {
  Job job({0, 1});
  for (const RmwOp op : {RmwOp::kAdd, RmwOp::kSwap, RmwOp::kCompareSwap}) {
    job.network().forget_calls();
    std::int64_t before = -1;
    ASSERT_TRUE(job->rmw<std::int64_t>(op, job.memory(1), 10, 0, &before, 1).ok());
    EXPECT_EQ(job.network().calls().size(), 1u);
    EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 1);
  }
}

TEST(RmwWordTest, ThreadsDrawEachTicketOnce) {
  Job job({0, 1});
  constexpr int kThreads = 4;
  constexpr int kDraws = 200;
  std::vector<std::vector<int>> drawn(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kDraws; ++i) {
        int before = -1;
        EXPECT_TRUE(job->rmw<int>(RmwOp::kAdd, job.at<int>(1, 1), 1, 0, &before, 1).ok());
        drawn[static_cast<std::size_t>(t)].push_back(before);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> all;
  for (const auto& some : drawn) {
    EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  for (int i = 0; i < kThreads * kDraws; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

TEST(RmwWordTest, RefusesWhatItCannotDo) {
  Job job({0, 1});
  int before = 0;
  EXPECT_EQ(job->rmw<int>(RmwOp::kAdd, job.memory(1), 1, 0, &before, 2).code(), Code::kProc);
  EXPECT_EQ(job->rmw<int>(RmwOp::kAdd, nullptr, 1, 0, &before, 1).code(), Code::kNull);
  EXPECT_EQ(job->rmw<int>(RmwOp::kAdd, job.memory(1) + 2, 1, 0, &before, 1).code(), Code::kAlignment);
  EXPECT_EQ(job->rmw<int>(RmwOp::kAdd, job.memory(0), 1, 0, &before, 1).code(), Code::kAddress);
  EXPECT_EQ(*job.at<int>(1, 0), 0);
}

TEST(NotifyTest, ArrivesAfterEverythingStoredBefore) {
  Job job({0, 1});
  bool early = false;
  job.network().on_visible = [&] { early = early || (job.notifications(1, 0) == 1 && *job.at<int>(1, 0) != 5); };
  const int value = 5;
  ASSERT_TRUE(job->contiguous<Kind::kPut>(&value, job.memory(1), sizeof value, 1, through(nullptr)).ok());
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_FALSE(early);
  EXPECT_EQ(job.notifications(1, 0), 1u);
  EXPECT_EQ(*job.at<int>(1, 0), 5);
}

TEST(NotifyTest, CountsUp) {
  for (int node : {0, 1}) {
    Job job({0, node});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(job->notify(1).ok());
    EXPECT_EQ(job.notifications(1, 0), 3u);
  }
}

TEST(NotifyTest, EachWaitConsumesOne) {
  Job job({0, 1});
  job.notifications(0, 1) = 2;
  int count = 0;
  ASSERT_TRUE(job->notify_wait(1, &count).ok());
  EXPECT_EQ(count, 1);
  ASSERT_TRUE(job->notify_wait(1, &count).ok());
  EXPECT_EQ(count, 2);
}

TEST(NotifyTest, AWaitEndsWhenTheNotificationComes) {
  for (int node : {0, 1}) {
    Job job({0, node});
    std::thread other([&] {
      while (job.network().progress_count() < 3) std::this_thread::yield();  // the waiter polls and finds nothing
      node::apply({&job.notifications(0, 1), 1, node::SignalOp::kAdd, &job.wake_up(0)});
    });
    int count = 0;
    ASSERT_TRUE(job->notify_wait(1, &count).ok());
    EXPECT_EQ(count, 1);
    other.join();
  }
}

TEST(NotifyTest, PeersAreDistinguished) {
  Job job({0, 1, 2});
  job.notifications(0, 2) = 1;
  ASSERT_TRUE(job->notify_wait(2, nullptr).ok());
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_EQ(job.notifications(2, 0), 0u);
  EXPECT_EQ(job.notifications(1, 0), 1u);
}

// Signals.

using SignalsJob = RuntimeForTest<testing::SignalsTransport>;

TEST(SignalTest, ANotificationIsOneSignalBehindTheStores) {
  SignalsJob job({0, 1});
  const int value = 5;
  armci_hdl_t handle{};
  job.network().hold();
  ASSERT_TRUE(job->contiguous<Kind::kPut>(&value, job.at<int>(1, 0), sizeof value, 1, through(&handle), {}).ok());
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kFlush), 0);
  EXPECT_EQ(job.network().count(FakeCallKind::kSignal), 1);
  EXPECT_EQ(job.notifications(1, 0), 1u);
  EXPECT_EQ(*job.at<int>(1, 0), 5) << "a store that had not completed";
}

TEST(SignalTest, APutWithSignalIsOneCallOfTheTransport) {
  SignalsJob job({0, 1});
  const int value = 5;
  auto* word = job.at<std::uint64_t>(1, 64);
  ASSERT_TRUE(job->put_signal(&value, job.at<int>(1, 0), sizeof value, word, 3, node::SignalOp::kAdd, 1).ok());
  EXPECT_EQ(*job.at<int>(1, 0), 5);
  EXPECT_EQ(*word, 3u);
  EXPECT_EQ(job.network().count(FakeCallKind::kFlush), 0);
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 0);
  ASSERT_TRUE(job->put_signal(nullptr, nullptr, 0, word, 9, node::SignalOp::kSet, 1).ok());
  EXPECT_EQ(*word, 9u);
}

TEST(SignalTest, AFenceCoversNotifications) {
  SignalsJob job({0, 1});
  job.network().holds_signals = true;
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_EQ(job.notifications(1, 0), 0u);
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(job.notifications(1, 0), 1u);
}

TEST(SignalTest, AJobWithoutThemFlushesInstead) {
  RuntimeForTest<testing::SometimesSignalsTransport> job({0, 1});
  auto* word = job.at<std::uint64_t>(1, 64);
  const int value = 5;
  for (const bool has : {false, true}) {
    job.network().job_has_signals = has;
    job.network().forget_calls();
    ASSERT_TRUE(job->notify(1).ok());
    ASSERT_TRUE(job->put_signal(&value, job.at<int>(1, 0), sizeof value, word, 3, node::SignalOp::kAdd, 1).ok());
    EXPECT_EQ(job.network().count(FakeCallKind::kSignal), has ? 2 : 0);
  }
  EXPECT_EQ(job.notifications(1, 0), 2u);
  EXPECT_EQ(*word, 6u);
  EXPECT_EQ(*job.at<int>(1, 0), 5);
}

TEST(SignalTest, ANotificationIsTheOnlyWriterOfItsCount) {
  SignalsJob job({0, 1});
  job.network().holds_signals = true;
  ASSERT_TRUE(job->notify(1).ok());
  auto* word = job.at<std::uint64_t>(1, 64);
  ASSERT_TRUE(job->put_signal(nullptr, nullptr, 0, word, 9, node::SignalOp::kSet, 1).ok());
  EXPECT_EQ(job.network().sole_writers(), (std::vector<bool>{true, false}));
}

TEST(SignalTest, ASleeperIsWoken) {
  SignalsJob job({0, 1});
  std::thread other([&] {
    while (job.wake_up(0).sleeping.load() == 0) std::this_thread::yield();
    node::apply({&job.notifications(0, 1), 1, node::SignalOp::kAdd, &job.wake_up(0)});
  });
  int count = 0;
  ASSERT_TRUE(job->notify_wait(1, &count).ok());
  EXPECT_EQ(count, 1);
  other.join();
}

}  // namespace armci::runtime::atomics_test
