// Completion and fences: handles of all kinds over operations that the network delays, and the targets that are
// flushed.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "impl/node/node_barrier.h"
#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::sync_test {

using testing::FakeCallKind;
using testing::ReorderingTransport;

using Job = RuntimeForTest<ReorderingTransport>;

constexpr std::int64_t kValues[] = {11, 12, 13, 14, 15, 16, 17, 18};

// A non-blocking put of one word to the process's `index`-th word.
void start_put(Job& job, int proc, std::size_t index, armci_hdl_t* handle) {
  ASSERT_TRUE(
      job->contiguous<Kind::kPut>(&kValues[index % 8], job.at<std::int64_t>(proc, index), 8, proc, through(handle))
          .ok());
}

bool tested_done(Job& job, armci_hdl_t* handle) {
  bool done = false;
  EXPECT_TRUE(job->test(handle, &done).ok());
  return done;
}

TEST(HandleTest, AnUnusedHandleIsComplete) {
  Job job({0, 1});
  armci_hdl_t handle{};
  EXPECT_TRUE(tested_done(job, &handle));
  EXPECT_TRUE(job->wait(&handle).ok());
}

TEST(HandleTest, TestReportsProgressUntilTheOperationCompletes) {
  Job job({0, 1});
  armci_hdl_t handle{};
  job.network().hold();
  start_put(job, 1, 0, &handle);
  EXPECT_FALSE(tested_done(job, &handle));
  EXPECT_FALSE(tested_done(job, &handle));
  job.network().release_held();
  EXPECT_TRUE(tested_done(job, &handle));
  EXPECT_TRUE(tested_done(job, &handle));
}

TEST(HandleTest, RepeatedTestsEndInCompletionByThemselves) {
  Job job({0, 1});
  armci_hdl_t handle{};
  job.network().set_tests_until_done(5);
  start_put(job, 1, 0, &handle);
  int tests = 1;
  while (tests < 100 && !tested_done(job, &handle)) ++tests;
  EXPECT_EQ(tests, 5);
}

TEST(HandleTest, AHandleIsCompleteOnlyWhenAllItsOperationsAre) {
  Job job({0, 1, 2});
  armci_hdl_t handle{};
  start_put(job, 1, 0, &handle);
  job.network().hold();
  start_put(job, 2, 1, &handle);
  EXPECT_FALSE(tested_done(job, &handle));
  job.network().release_held();
  EXPECT_TRUE(tested_done(job, &handle));
}

TEST(HandleTest, WaitCompletesEveryOperationOfTheHandle) {
  Job job({0, 1});
  job.network().set_tests_until_done(3);
  armci_hdl_t handle{};
  std::int64_t seen[8] = {};
  for (std::size_t i = 0; i < 8; ++i) *job.at<std::int64_t>(1, i) = kValues[i];
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(job->contiguous<Kind::kGet>(job.at<std::int64_t>(1, i), &seen[i], 8, 1, through(&handle)).ok());
  }
  ASSERT_TRUE(job->wait(&handle).ok());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(seen[i], kValues[i]);
}

TEST(HandleTest, WaitLeavesOtherHandlesAlone) {
  Job job({0, 1});
  armci_hdl_t waited{};
  armci_hdl_t other{};
  start_put(job, 1, 0, &waited);
  start_put(job, 1, 1, &other);
  start_put(job, 1, 2, nullptr);
  ASSERT_TRUE(job->wait(&waited).ok());
  EXPECT_EQ(job.outstanding(), 2u);
}

TEST(HandleTest, WaitIsLocalAndFlushesNothing) {
  Job job({0, 1});
  armci_hdl_t handle{};
  start_put(job, 1, 0, &handle);
  ASSERT_TRUE(job->wait(&handle).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kFlush), 0);
}

TEST(HandleTest, ACompletedHandleCanBeUsedAgain) {
  Job job({0, 1});
  armci_hdl_t handle{};
  for (std::size_t i = 0; i < 8; ++i) {
    start_put(job, 1, i, &handle);
    ASSERT_TRUE(job->wait(&handle).ok());
    EXPECT_EQ(job.outstanding(), 0u);
  }
}

TEST(HandleTest, ACopyOfACompletedHandleIsComplete) {
  Job job({0, 1});
  armci_hdl_t handle{};
  start_put(job, 1, 0, &handle);
  armci_hdl_t copy = handle;
  ASSERT_TRUE(job->wait(&handle).ok());
  EXPECT_TRUE(tested_done(job, &copy));
}

TEST(HandleTest, AStaleCopyDoesNotWaitForTheSlotsNextUser) {
  Job job({0, 1});
  armci_hdl_t handle{};
  start_put(job, 1, 0, &handle);
  armci_hdl_t stale = handle;
  ASSERT_TRUE(job->wait(&handle).ok());
  job.network().hold();
  armci_hdl_t next{};
  start_put(job, 1, 1, &next);
  EXPECT_TRUE(tested_done(job, &stale));
  EXPECT_FALSE(tested_done(job, &next));
}

TEST(HandleTest, AHandleCompletedByAFenceIsComplete) {
  Job job({0, 1});
  armci_hdl_t handle{};
  start_put(job, 1, 0, &handle);
  ASSERT_TRUE(job->fence(1).ok());
  job.network().hold();
  armci_hdl_t next{};
  start_put(job, 1, 1, &next);
  EXPECT_TRUE(tested_done(job, &handle));
}

TEST(HandleTest, WaitProcCompletesImplicitAndExplicitOperationsToThatProcessOnly) {
  Job job({0, 1, 2});
  armci_hdl_t handle{};
  start_put(job, 1, 0, nullptr);
  start_put(job, 1, 1, &handle);
  start_put(job, 2, 2, nullptr);
  ASSERT_TRUE(job->wait_proc(1).ok());
  EXPECT_EQ(job.outstanding(), 1u);
  EXPECT_TRUE(tested_done(job, &handle));
}

TEST(HandleTest, WaitAllCompletesEverything) {
  Job job({0, 1, 2});
  armci_hdl_t handle{};
  armci_hdl_t aggregate{};
  write_handle(&aggregate, HandleBits{0, 1, 0});
  start_put(job, 1, 0, nullptr);
  start_put(job, 2, 1, &handle);
  start_put(job, 1, 2, &aggregate);
  ASSERT_TRUE(job->wait_all().ok());
  EXPECT_EQ(job.outstanding(), 0u);
}

TEST(HandleTest, AnAggregateHandleStaysAggregateAfterWait) {
  Job job({0, 1});
  armci_hdl_t handle{};
  write_handle(&handle, HandleBits{0, 1, 0});
  start_put(job, 1, 0, &handle);
  EXPECT_EQ(read_handle(&handle).aggregate, 1u);
  ASSERT_TRUE(job->wait(&handle).ok());
  EXPECT_EQ(read_handle(&handle).aggregate, 1u);
}

TEST(HandleTest, TheLibraryCompletesOlderOperationsWhenThereAreTooMany) {
  Job job({0, 1});
  std::size_t most = 0;
  for (std::size_t i = 0; i < 3 * kOutstandingMax; ++i) {
    start_put(job, 1, i, nullptr);
    most = std::max(most, job.outstanding());
  }
  EXPECT_LE(most, kOutstandingMax);
  ASSERT_TRUE(job->fence(1).ok());
  for (std::size_t i = 0; i < 3 * kOutstandingMax; ++i) ASSERT_EQ(*job.at<std::int64_t>(1, i), kValues[i % 8]) << i;
}

// ARMCI_Test never blocks [CMPL-3], and a transfer does not wait for another one, also while other threads wait.
TEST(HandleTest, AWaitingThreadHoldsUpNoOther) {
  Job job({0, 1});
  job.network().hold();
  armci_hdl_t held{};
  start_put(job, 1, 0, &held);
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    EXPECT_TRUE(job->wait(&held).ok());
    returned.store(true);
  });
  const int before = job.network().progress_count();
  while (job.network().progress_count() < before + 3) std::this_thread::yield();  // the waiter is inside wait
  armci_hdl_t other{};
  start_put(job, 1, 1, &other);
  EXPECT_FALSE(tested_done(job, &other));
  EXPECT_FALSE(returned.load());
  job.network().release_held();
  waiter.join();
  EXPECT_TRUE(returned.load());
}

TEST(FenceTest, FlushesTheTargetThatHasUnflushedStores) {
  Job job({0, 1, 2});
  start_put(job, 1, 0, nullptr);
  start_put(job, 2, 0, nullptr);
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(job.network().flushed(), std::vector<int>{1});
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), kValues[0]);
}

TEST(FenceTest, WithNothingOutstandingFlushesNothing) {
  Job job({0, 1, 2});
  ASSERT_TRUE(job->fence(1).ok());
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_TRUE(job.network().flushed().empty());
}

TEST(FenceTest, AGetIsNoReasonToFlush) {
  Job job({0, 1});
  std::int64_t seen = 0;
  ASSERT_TRUE(job->get_value(job.at<std::int64_t>(1, 0), 1, &seen).ok());
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_TRUE(job.network().flushed().empty());
}

TEST(FenceTest, ASecondFenceFlushesNothing) {
  Job job({0, 1});
  start_put(job, 1, 0, nullptr);
  ASSERT_TRUE(job->fence(1).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(job.network().flushed(), std::vector<int>{1});
}

TEST(FenceTest, AllFenceFlushesExactlyTheTargetsThatHaveUnflushedStores) {
  Job job({0, 1, 1, 2, 3});
  start_put(job, 3, 0, nullptr);
  start_put(job, 1, 0, nullptr);
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(job.network().flushed(), (std::vector<int>{1, 3}));
  EXPECT_EQ(*job.at<std::int64_t>(3, 0), kValues[0]);
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), kValues[0]);
}

TEST(FenceTest, CoversStoresThatWereWaitedFor) {
  Job job({0, 1});
  armci_hdl_t handle{};
  start_put(job, 1, 3, &handle);
  ASSERT_TRUE(job->wait(&handle).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<std::int64_t>(1, 3), kValues[3]);
}

TEST(FenceTest, CompletesAnUnfinishedAggregate) {
  Job job({0, 1});
  armci_hdl_t handle{};
  write_handle(&handle, HandleBits{0, 1, 0});
  start_put(job, 1, 0, &handle);
  start_put(job, 1, 1, &handle);
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*job.at<std::int64_t>(1, 0), kValues[0]);
  EXPECT_EQ(*job.at<std::int64_t>(1, 1), kValues[1]);
}

TEST(FenceTest, GroupFenceCoversTheMembersOnly) {
  Job job({0, 1, 2, 3});
  for (int proc = 1; proc < 4; ++proc) start_put(job, proc, 0, nullptr);
  const auto group = GroupForTest::make(world(), {0, 3, 1});
  ASSERT_TRUE(job->fence_group(*group).ok());
  EXPECT_EQ(job.network().flushed(), (std::vector<int>{3, 1}));
}

TEST(FenceTest, AProcessOutsideTheJobIsRefused) {
  Job job({0, 1});
  for (int proc : {-1, 2}) {
    EXPECT_EQ(job->fence(proc).code(), Code::kProc);
    EXPECT_EQ(job->wait_proc(proc).code(), Code::kProc);
  }
}

TEST(BarrierTest, FencesBeforeItOpens) {
  RuntimeForTest<testing::FakeTransport<false, Atomicity::kTransport, true>> job({0, 0});
  ASSERT_TRUE(job->put_value(std::int64_t{5}, job.at<std::int64_t>(1, 0), 1).ok());
  std::int64_t seen = 0;
  std::thread neighbour([&] {
    node::barrier_wait(job.group().barrier, 2);
    seen = *job.at<std::int64_t>(1, 0);
  });
  EXPECT_TRUE(job->barrier(job.group()).ok());
  neighbour.join();
  EXPECT_EQ(seen, 5);
}

using FlushAllJob = RuntimeForTest<testing::FlushAllTransport>;

int flushes_of_all(FlushAllJob& job) { return static_cast<testing::FlushAllTransport&>(job.network()).flushes_of_all; }

TEST(FlushAllTest, OneCallForSeveralTargetsNoneForNoStores) {
  FlushAllJob job({0, 1, 2, 3});
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(flushes_of_all(job), 0) << "no store is unflushed";
  const int value = 5;
  for (int target : {1, 3}) {
    ASSERT_TRUE(job->contiguous<Kind::kPut>(&value, job.memory(target), sizeof value, target, through(nullptr)).ok());
  }
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(flushes_of_all(job), 1);
  EXPECT_EQ(*job.at<int>(1, 0), 5);
  EXPECT_EQ(*job.at<int>(3, 0), 5);
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(flushes_of_all(job), 1) << "a flushed store is not flushed again";
}

TEST(FlushAllTest, StoresStayUnflushedWhenItFails) {
  FlushAllJob job({0, 1, 2});
  const int value = 5;
  for (int target : {1, 2}) {
    ASSERT_TRUE(job->contiguous<Kind::kPut>(&value, job.memory(target), sizeof value, target, through(nullptr)).ok());
  }
  job.network().fail_call(testing::FakeCallKind::kFlush, 2);
  EXPECT_EQ(job->fence_all().code(), Code::kLayerBelow);
  ASSERT_TRUE(job->fence_all().ok());
  EXPECT_EQ(*job.at<int>(1, 0), 5);
  EXPECT_EQ(*job.at<int>(2, 0), 5);
}

}  // namespace armci::runtime::sync_test
