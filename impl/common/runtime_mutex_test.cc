// Mutexes over a 64-bit atomic (tickets) and in node memory, as the program sees them.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "impl/common/testing/fake_transport.h"
#include "impl/common/testing/runtime_world.h"

namespace armci::common {
namespace {

using testing::FakeCallKind;
using testing::FakeTransport;
using testing::ReorderingTransport;

using TicketJob = RuntimeForTest<ReorderingTransport>;
using NodeJob = RuntimeForTest<FakeTransport<false, Atomicity::kNodeCpu, false>>;

template <class Job>
class MutexTest : public ::testing::Test {
 public:
  Job job{std::vector<int>{0, 0}};
};
using Jobs = ::testing::Types<TicketJob, NodeJob>;
TYPED_TEST_SUITE(MutexTest, Jobs);

template <class Job, class Set>
bool tried(Job& job, Set& set, int mutex, int proc) {
  bool taken = false;
  EXPECT_TRUE(job->try_lock(set, mutex, proc, &taken).ok());
  return taken;
}

TYPED_TEST(MutexTest, AFreeMutexIsTakenByTrylock) {
  auto set = this->job.make_mutexes({1, 2});
  EXPECT_TRUE(tried(this->job, *set, 1, 1));
  EXPECT_TRUE(this->job->unlock(*set, 1, 1).ok());
}

TYPED_TEST(MutexTest, AHeldMutexIsNotTakenByTrylock) {
  auto set = this->job.make_mutexes({1, 2});
  ASSERT_TRUE(this->job->lock(*set, 0, 1).ok());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tried(this->job, *set, 0, 1));
  ASSERT_TRUE(this->job->unlock(*set, 0, 1).ok());
  EXPECT_TRUE(tried(this->job, *set, 0, 1));
}

TYPED_TEST(MutexTest, MutexesAreIndependent) {
  auto set = this->job.make_mutexes({2, 2});
  auto other = this->job.make_mutexes({1, 0});
  ASSERT_TRUE(this->job->lock(*set, 0, 0).ok());
  EXPECT_TRUE(tried(this->job, *set, 1, 0));
  EXPECT_TRUE(tried(this->job, *set, 0, 1));
  EXPECT_TRUE(tried(this->job, *set, 1, 1));
  EXPECT_TRUE(tried(this->job, *other, 0, 0));
}

TYPED_TEST(MutexTest, UnlockOfAMutexThatIsNotHeldIsAnError) {
  auto set = this->job.make_mutexes({1, 1});
  EXPECT_EQ(this->job->unlock(*set, 0, 1).code(), Code::kMutex);
  ASSERT_TRUE(this->job->lock(*set, 0, 1).ok());
  ASSERT_TRUE(this->job->unlock(*set, 0, 1).ok());
  EXPECT_EQ(this->job->unlock(*set, 0, 1).code(), Code::kMutex);
  EXPECT_TRUE(tried(this->job, *set, 0, 1));
}

TYPED_TEST(MutexTest, IndicesOutsideTheSetAreErrors) {
  auto set = this->job.make_mutexes({1, 3});
  bool taken = true;
  EXPECT_EQ(this->job->lock(*set, 1, 0).code(), Code::kMutex);
  EXPECT_EQ(this->job->unlock(*set, -1, 1).code(), Code::kMutex);
  EXPECT_EQ(this->job->try_lock(*set, 3, 1, &taken).code(), Code::kMutex);
  EXPECT_EQ(this->job->lock(*set, 0, 2).code(), Code::kProc);
  EXPECT_EQ(this->job->lock(*set, 0, -1).code(), Code::kProc);
}

TYPED_TEST(MutexTest, AHostOfNoneHasNone) {
  auto set = this->job.make_mutexes({0, 1});
  EXPECT_EQ(this->job->lock(*set, 0, 0).code(), Code::kMutex);
}

TYPED_TEST(MutexTest, ThreadsExcludeEachOther) {
  auto set = this->job.make_mutexes({0, 1});
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  int counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        EXPECT_TRUE(this->job->lock(*set, 0, 1).ok());
        const int seen = counter;
        std::this_thread::yield();
        counter = seen + 1;
        EXPECT_TRUE(this->job->unlock(*set, 0, 1).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, kThreads * kRounds);
}

class TicketTest : public ::testing::Test {
 protected:
  TicketWords& words() { return *reinterpret_cast<TicketWords*>(set_->region->parts[1].base); }
  std::int64_t drawn() { return std::atomic_ref<std::int64_t>(words().next).load(); }

  TicketJob job_{std::vector<int>{0, 1}};
  std::unique_ptr<TicketJob::MutexSet> set_ = job_.make_mutexes({0, 1});
};

TEST_F(TicketTest, WaitersAreServedInTheOrderOfTheirTickets) {
  ASSERT_TRUE(job_->lock(*set_, 0, 1).ok());
  std::vector<int> served;
  std::vector<std::thread> waiters;
  for (int t = 0; t < 4; ++t) {
    const std::int64_t before = drawn();
    waiters.emplace_back([&, t] {
      EXPECT_TRUE(job_->lock(*set_, 0, 1).ok());
      served.push_back(t);
      EXPECT_TRUE(job_->unlock(*set_, 0, 1).ok());
    });
    while (drawn() == before) std::this_thread::yield();
  }
  ASSERT_TRUE(job_->unlock(*set_, 0, 1).ok());
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(TicketTest, AProcessElsewhereIsServedFirstWhenItCameFirst) {
  words().next = 1;  // somebody holds ticket 0
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE(job_->lock(*set_, 0, 1).ok());
    entered.store(true);
  });
  const int before = job_.network().progress_count();
  while (job_.network().progress_count() < before + 3) std::this_thread::yield();
  EXPECT_FALSE(entered.load());
  std::atomic_ref<std::int64_t>(words().serving).store(1);
  waiter.join();
  EXPECT_TRUE(entered.load());
}

TEST_F(TicketTest, TrylockDrawsNoTicketInVain) {
  words().next = 1;
  EXPECT_FALSE(tried(job_, *set_, 0, 1));
  EXPECT_EQ(drawn(), 1);
}

TEST_F(TicketTest, TrylockLosesToALockThatComesInBetween) {
  bool once = true;
  job_.network().before_atomic = [&] {
    if (std::exchange(once, false)) words().next = 1;
  };
  EXPECT_FALSE(tried(job_, *set_, 0, 1));
  EXPECT_EQ(drawn(), 1);
}

TEST_F(TicketTest, UnlockByAnotherThreadIsAnErrorAndChangesNothing) {
  ASSERT_TRUE(job_->lock(*set_, 0, 1).ok());
  std::thread other([&] { EXPECT_EQ(job_->unlock(*set_, 0, 1).code(), Code::kMutex); });
  other.join();
  EXPECT_EQ(words().serving, 0);
  EXPECT_TRUE(job_->unlock(*set_, 0, 1).ok());
}

TEST_F(TicketTest, UnlockComesAfterTheHoldersStoresToTheHost) {
  ASSERT_TRUE(job_->lock(*set_, 0, 1).ok());
  ASSERT_TRUE(job_->put_value(5, job_.at<int>(1, 0), 1).ok());
  job_.network().before_atomic = [&] { EXPECT_EQ(*job_.at<int>(1, 0), 5); };
  ASSERT_TRUE(job_->unlock(*set_, 0, 1).ok());
  EXPECT_EQ(words().serving, 1);
}

}  // namespace
}  // namespace armci::common
