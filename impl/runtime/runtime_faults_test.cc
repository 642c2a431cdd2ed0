// Errors of the network: each surfaces with its cause, nothing stays locked or half done, and the library goes on.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "impl/node/node_barrier.h"
#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::faults_test {

using testing::FakeCallKind;
using testing::FakeNetwork;
using testing::ReorderingTransport;

using Job = RuntimeForTest<ReorderingTransport>;

// The network's own code and text arrive at the caller.
void expect_injected(Status status) {
  EXPECT_EQ(status.code(), Code::kLayerBelow);
  EXPECT_EQ(last_cause().code, Code::kLayerBelow);
  EXPECT_NE(std::string(last_cause().text).find(FakeNetwork::kInjected), std::string::npos) << last_cause().text;
}

// Put, fence, get and RMW to process 1 work.
void expect_usable(Job& job) {
  const std::int64_t value = 77;
  std::int64_t seen = 0;
  std::int64_t before = 0;
  EXPECT_TRUE(job->put_value(value, job.at<std::int64_t>(1, 500), 1).ok());
  EXPECT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<std::int64_t>(1, 500), value);
  EXPECT_TRUE(job->get_value(job.at<std::int64_t>(1, 500), 1, &seen).ok());
  EXPECT_EQ(seen, value);
  EXPECT_TRUE(job->rmw<std::int64_t>(node::RmwOp::kAdd, job.at<std::int64_t>(1, 501), 1, 0, &before, 1).ok());
}

TEST(FaultTest, APutThatCannotStart) {
  Job job({0, 1});
  job.network().fail_call(FakeCallKind::kPut, 1);
  expect_injected(job->put_value(1, job.at<int>(1, 0), 1));
  expect_usable(job);
}

TEST(FaultTest, ANonBlockingPutOfAValueThatFails) {
  for (const FakeCallKind kind : {FakeCallKind::kPut, FakeCallKind::kTest}) {
    Job job({0, 1});
    job.network().fail_call(kind, 1);
    expect_injected(job->nb_put_value(1, job.at<int>(1, 0), 1));
    EXPECT_EQ(job.outstanding(), 0u) << "the value is gone at return";
    expect_usable(job);
  }
}

TEST(FaultTest, AGetThatCannotStart) {
  Job job({0, 1});
  int seen = 0;
  job.network().fail_call(FakeCallKind::kGet, 1);
  expect_injected(job->get_value(job.at<int>(1, 0), 1, &seen));
  expect_usable(job);
}

TEST(FaultTest, ABlockingTransferThatFailsOnTheWay) {
  Job job({0, 1});
  job.network().fail_call(FakeCallKind::kTest, 1);
  expect_injected(job->put_value(1, job.at<int>(1, 0), 1));
  expect_usable(job);
}

TEST(FaultTest, ANonBlockingPutThatCannotStartLeavesNothingToWaitFor) {
  Job job({0, 1});
  armci_hdl_t handle{};
  const int value = 1;
  job.network().fail_call(FakeCallKind::kPut, 1);
  expect_injected(job->contiguous<Kind::kPut>(&value, job.memory(1), sizeof value, 1, through(&handle)));
  EXPECT_EQ(job.outstanding(), 0u);
  EXPECT_TRUE(job->wait(&handle).ok());
}

struct Completer {
  const char* name;
  Status (*complete)(Job&, armci_hdl_t*);
};
constexpr Completer kCompleters[] = {
    {"Wait", [](Job& job, armci_hdl_t* handle) { return job->wait(handle); }},
    {"Test",
     [](Job& job, armci_hdl_t* handle) {
       bool done = false;
       return job->test(handle, &done);
     }},
    {"WaitProc", [](Job& job, armci_hdl_t*) { return job->wait_proc(1); }},
    {"WaitAll", [](Job& job, armci_hdl_t*) { return job->wait_all(); }},
    {"Fence", [](Job& job, armci_hdl_t*) { return job->fence(1); }},
    {"AllFence", [](Job& job, armci_hdl_t*) { return job->fence_all(); }},
};
class CompleterTest : public ::testing::TestWithParam<Completer> {};
INSTANTIATE_TEST_SUITE_P(Calls, CompleterTest, ::testing::ValuesIn(kCompleters),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CompleterTest, ReportsAnOperationThatFailedOnTheWay) {
  Job job({0, 1});
  armci_hdl_t handle{};
  const int values[3] = {1, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(job->contiguous<Kind::kPut>(&values[i], job.at<int>(1, i), sizeof(int), 1, through(&handle)).ok());
  }
  job.network().fail_call(FakeCallKind::kTest, 2);
  expect_injected(GetParam().complete(job, &handle));
}

TEST_P(CompleterTest, EndsTheOtherOperationsOfTheHandleAsWell) {
  Job job({0, 1});
  armci_hdl_t handle{};
  const int values[3] = {1, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(job->contiguous<Kind::kPut>(&values[i], job.at<int>(1, i), sizeof(int), 1, through(&handle)).ok());
  }
  job.network().fail_call(FakeCallKind::kTest, 1);
  EXPECT_FALSE(GetParam().complete(job, &handle).ok());
  EXPECT_EQ(job.outstanding(), 0u);
  EXPECT_TRUE(job->wait(&handle).ok());
  expect_usable(job);
}

TEST(FaultTest, AFailedFenceDoesNotCountAsOne) {
  Job job({0, 1});
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->fence(1));
  EXPECT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<int>(1, 0), 5);
}

TEST(FaultTest, AFailedFlushLetsNoLaterStoreOvertake) {
  Job job({0, 1});
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->put_value(6, job.at<int>(1, 1), 1));
  ASSERT_TRUE(job->put_value(7, job.at<int>(1, 2), 1).ok());
  EXPECT_EQ(*job.at<int>(1, 0), 5);
}

TEST(FaultTest, AllFenceReportsOneTargetAndServesTheOthers) {
  Job job({0, 1, 2, 3});
  for (int proc = 1; proc < 4; ++proc) ASSERT_TRUE(job->put_value(proc, job.at<int>(proc, 0), proc).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->fence_all());
  EXPECT_EQ(*job.at<int>(2, 0), 2);
  EXPECT_EQ(*job.at<int>(3, 0), 3);
}

// The neighbours enter the barrier: a process that fails must not leave them waiting there.
TEST(FaultTest, AProcessWhoseFenceFailsStillEntersTheBarrier) {
  RuntimeForTest<testing::FakeTransport<false, Atomicity::kTransport, true>> job({0, 0});
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  std::thread neighbour([&] { node::barrier_wait(job.group().barrier, 2); });
  expect_injected(job->barrier(job.group()));
  EXPECT_EQ(job.group().barrier->generation.load(), 1u);
  if (job.group().barrier->generation.load() == 0) node::barrier_wait(job.group().barrier, 2);  // free the neighbour
  neighbour.join();
}

// Every call of an accumulate fails once, in turn. After each failure the lock of the target is free, the
// elements are either untouched or added to once, and the next accumulate works.
class AccumulateFaultTest : public ::testing::TestWithParam<FakeCallKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, AccumulateFaultTest,
                         ::testing::Values(FakeCallKind::kPut, FakeCallKind::kGet, FakeCallKind::kTest,
                                           FakeCallKind::kFlush));

TEST_P(AccumulateFaultTest, LeavesNothingLocked) {
  constexpr std::size_t kRows = 3;
  const Strided shape{1, {16, kRows}, {16}, {64}};
  const std::int64_t source[2 * kRows] = {1, 1, 1, 1, 1, 1};
  const std::int64_t scale = 1;
  int failures = 0;
  for (int number = 1; number < 30; ++number) {
    Job job({0, 1});
    job.network().fail_call(GetParam(), number);
    const Status status =
        job->strided<Kind::kAcc>(source, job.memory(1), shape, 1, kBlocking, {node::AccType::kLong, &scale});
    if (status.ok()) break;
    ++failures;
    expect_injected(status);
    EXPECT_EQ(job.accumulate_lock(1), 0) << "call " << number;
    ASSERT_TRUE(job->fence(1).ok());
    for (std::size_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(*job.at<std::int64_t>(1, 8 * row) / 2, 0) << "call " << number << " row " << row;
    }
    if (job.accumulate_lock(1) != 0) continue;  // the next accumulate would wait for ever
    const std::int64_t before = *job.at<std::int64_t>(1, 0);
    ASSERT_TRUE(
        job->strided<Kind::kAcc>(source, job.memory(1), shape, 1, kBlocking, {node::AccType::kLong, &scale}).ok());
    EXPECT_EQ(*job.at<std::int64_t>(1, 0), before + 1);
  }
  EXPECT_GE(failures, 1);
}

TEST(FaultTest, AnAccumulateThatCannotTakeTheLockChangesNothing) {
  Job job({0, 1});
  const std::int64_t one = 1;
  job.network().fail_call(FakeCallKind::kAtomic, 1);
  expect_injected(job->contiguous<Kind::kAcc>(&one, job.memory(1), 8, 1, kBlocking, {node::AccType::kLong, &one}));
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), 0);
  EXPECT_EQ(job.accumulate_lock(1), 0);
}

TEST(FaultTest, AnRmwThatFailsChangesNothing) {
  for (const FakeCallKind kind : {FakeCallKind::kGet, FakeCallKind::kTest, FakeCallKind::kAtomic}) {
    Job job({0, 1});
    *job.at<int>(1, 0) = 3;
    int before = -1;
    job.network().fail_call(kind, 1);
    expect_injected(job->rmw<int>(node::RmwOp::kAdd, job.memory(1), 1, 0, &before, 1));
    EXPECT_EQ(*job.at<int>(1, 0), 3);
    EXPECT_EQ(before, -1);
    expect_usable(job);
  }
}

TEST(FaultTest, AnRmwWhoseEarlierStoresCannotBeFlushedFails) {
  Job job({0, 1});
  int before = -1;
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->rmw<int>(node::RmwOp::kAdd, job.memory(1), 1, 0, &before, 1));
  ASSERT_TRUE(job->rmw<int>(node::RmwOp::kAdd, job.memory(1), 1, 0, &before, 1).ok());
  EXPECT_EQ(before, 5);
}

TEST(FaultTest, ANotificationIsNotSentWhenItsStoresDidNotArrive) {
  Job job({0, 1});
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->notify(1));
  EXPECT_EQ(job.notifications(1, 0), 0u);
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_EQ(job.notifications(1, 0), 1u);
}

TEST(FaultTest, ANotificationThatFailedIsNotCountedLater) {
  Job job({0, 1});
  job.network().fail_call(FakeCallKind::kPut, 1);
  expect_injected(job->notify(1));
  ASSERT_TRUE(job->notify(1).ok());
  EXPECT_EQ(job.notifications(1, 0), 1u);
}

TEST(FaultTest, AMutexWhoseQueueCannotBeEnteredIsNotHeld) {
  Job job({0, 1});
  auto set = job.make_mutexes({0, 1});
  job.network().fail_call(FakeCallKind::kAtomic, 1);
  expect_injected(job->lock(*set, 0, 1));
  EXPECT_EQ(job->unlock(*set, 0, 1).code(), Code::kMutex);
  EXPECT_TRUE(job->lock(*set, 0, 1).ok());
  EXPECT_TRUE(job->unlock(*set, 0, 1).ok());
}

TEST(FaultTest, AnUnlockThatFailedCanBeRepeated) {
  for (const FakeCallKind kind : {FakeCallKind::kFlush, FakeCallKind::kAtomic}) {
    Job job({0, 1});
    auto set = job.make_mutexes({0, 1});
    ASSERT_TRUE(job->lock(*set, 0, 1).ok());
    ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
    job.network().fail_call(kind, 1);
    expect_injected(job->unlock(*set, 0, 1));
    EXPECT_TRUE(job->unlock(*set, 0, 1).ok());
    bool taken = false;
    EXPECT_TRUE(job->try_lock(*set, 0, 1, &taken).ok());
    EXPECT_TRUE(taken);
  }
}

// Mutex 0 of process 1; process 2 takes part in its queue by hand.
class QueueFaultTest : public ::testing::Test {
 protected:
  std::int64_t& tail() { return *reinterpret_cast<std::int64_t*>(set_->region->parts[1].base); }
  QueueNode& node(std::size_t proc) {
    return *reinterpret_cast<QueueNode*>(set_->region->parts[proc].base + (proc == 1 ? sizeof(node::NodeMutex) : 0));
  }

  Job job_{std::vector<int>{0, 1, 2}};
  std::unique_ptr<Job::MutexSet> set_ = job_.make_mutexes({0, 1, 0});
};

TEST_F(QueueFaultTest, AProcessThatCannotLinkLeavesTheQueue) {
  tail() = queue_word::make(7, 2);
  job_.network().fail_call(FakeCallKind::kAtomic, 2);
  expect_injected(job_->lock(*set_, 0, 1));
  EXPECT_EQ(tail(), queue_word::make(7, 2));
  EXPECT_EQ(job_->unlock(*set_, 0, 1).code(), Code::kMutex);
  tail() = 0;
  EXPECT_TRUE(job_->lock(*set_, 0, 1).ok());
  EXPECT_TRUE(job_->unlock(*set_, 0, 1).ok());
}

TEST_F(QueueFaultTest, AProcessThatCannotLinkTriesOnForItsSuccessor) {
  tail() = queue_word::make(7, 2);
  node(0).granted = queue_word::make(7, 2);  // as soon as it is linked
  int calls = 0;
  job_.network().before_atomic = [&] {
    if (++calls == 3) tail() = queue_word::make(4, 1);  // before this process can leave
  };
  job_.network().fail_call(FakeCallKind::kAtomic, 2);
  ASSERT_TRUE(job_->lock(*set_, 0, 1).ok());
  EXPECT_EQ(node(2).next_of(7), queue_word::make(7, 0));
  EXPECT_EQ(tail(), queue_word::make(4, 1));
}

TEST_F(QueueFaultTest, AHandOverThatFailedCanBeRepeated) {
  for (const FakeCallKind kind : {FakeCallKind::kPut, FakeCallKind::kTest, FakeCallKind::kFlush}) {
    const std::uint32_t turn = node(0).turn;
    ASSERT_TRUE(job_->lock(*set_, 0, 1).ok());
    tail() = queue_word::make(9, 2);
    node(0).next_of(turn) = queue_word::make(turn, 2);
    job_.network().fail_call(kind, 1);
    expect_injected(job_->unlock(*set_, 0, 1));
    EXPECT_TRUE(job_->unlock(*set_, 0, 1).ok());
    EXPECT_EQ(node(2).granted, queue_word::make(turn, 0));
    tail() = 0;
  }
}

TEST_F(QueueFaultTest, ATrylockThatFailedLeavesTheMutexFree) {
  bool taken = true;
  job_.network().fail_call(FakeCallKind::kAtomic, 1);
  expect_injected(job_->try_lock(*set_, 0, 1, &taken));
  EXPECT_FALSE(taken);
  EXPECT_TRUE(job_->try_lock(*set_, 0, 1, &taken).ok());
  EXPECT_TRUE(taken);
}

}  // namespace armci::runtime::faults_test
