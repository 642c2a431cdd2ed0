// Mutexes over a 64-bit atomic (a queue) and in node memory, as the program sees them, and what the queue does between
// processes.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::mutex_test {

using testing::FakeCallKind;
using testing::FakeTransport;
using testing::ReorderingTransport;

using QueueJob = RuntimeForTest<ReorderingTransport>;
using OwnJob = RuntimeForTest<testing::MutexMakingTransport>;
using NodeJob = RuntimeForTest<FakeTransport<false, Atomicity::kNodeCpu, false>>;

template <class Job>
class MutexTest : public ::testing::Test {
 public:
  Job job{std::vector<int>{0, 0}};
};
using Jobs = ::testing::Types<QueueJob, OwnJob, NodeJob>;
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

// The CPU on the node, a server for other nodes: one queue for both.

using ServerJob = RuntimeForTest<FakeTransport<true, Atomicity::kNodeCpu>>;

TEST(ServedNodesTest, AMutexOnTheNodeOfAGroupOfSeveralIsAQueueByTheCpu) {
  ServerJob job({0, 0, 1});
  auto set = job.make_mutexes({0, 1, 1});
  ASSERT_TRUE(job->lock(*set, 0, 1).ok());
  EXPECT_FALSE(tried(job, *set, 0, 1));
  const auto* word = reinterpret_cast<const std::int64_t*>(set->region->parts[1].base);
  EXPECT_EQ(static_cast<std::uint32_t>(*word), 1u) << "not the tail of a queue, which other nodes would see";
  ASSERT_TRUE(job->unlock(*set, 0, 1).ok());
  EXPECT_EQ(*word, 0);
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 0);
}

TEST(ServedNodesTest, AMutexOfAnotherNodeIsTakenThroughTheTransport) {
  ServerJob job({0, 0, 1});
  auto set = job.make_mutexes({0, 1, 1});
  EXPECT_TRUE(tried(job, *set, 0, 2));
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 1);
  ASSERT_TRUE(job->unlock(*set, 0, 2).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 2);
}

// The transport's own mutexes: the part that Runtime does.

TEST(OwnMutexTest, NoAtomicIsNeeded) {
  OwnJob job({0, 1});
  auto set = job.make_mutexes({0, 1});
  ASSERT_TRUE(job->lock(*set, 0, 1).ok());
  EXPECT_FALSE(tried(job, *set, 0, 1));
  ASSERT_TRUE(job->unlock(*set, 0, 1).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 0);
}

TEST(OwnMutexTest, UnlockByAnotherThreadIsAnErrorThatDoesNotReachTheTransport) {
  OwnJob job({0, 1});
  auto set = job.make_mutexes({0, 1});
  int unlocks = 0;
  set->own->on_unlock = [&] { ++unlocks; };
  ASSERT_TRUE(job->lock(*set, 0, 1).ok());
  std::thread other([&] { EXPECT_EQ(job->unlock(*set, 0, 1).code(), Code::kMutex); });
  other.join();
  EXPECT_EQ(unlocks, 0);
  EXPECT_TRUE(job->unlock(*set, 0, 1).ok());
  EXPECT_EQ(unlocks, 1);
}

TEST(OwnMutexTest, UnlockComesAfterTheHoldersStoresToTheHost) {
  OwnJob job({0, 1});
  auto set = job.make_mutexes({0, 1});
  ASSERT_TRUE(job->lock(*set, 0, 1).ok());
  ASSERT_TRUE(job->put_value(5, job.at<int>(1, 0), 1).ok());
  int seen = 0;
  set->own->on_unlock = [&] { seen = *job.at<int>(1, 0); };
  ASSERT_TRUE(job->unlock(*set, 0, 1).ok());
  EXPECT_EQ(seen, 5);
}

// This process is 0, on a node with process 3; the others' part in the queue of mutex 0 of process 1 is played by hand.
template <class Job>
class QueueOf : public ::testing::Test {
 protected:
  static constexpr int kHost = 1;
  static constexpr int kOther = 2;
  static constexpr int kNeighbour = 3;

  static std::int64_t load(std::int64_t& word) { return std::atomic_ref(word).load(); }
  static void store(std::int64_t& word, std::int64_t value) { std::atomic_ref(word).store(value); }
  std::int64_t& tail() { return *reinterpret_cast<std::int64_t*>(set_->region->parts[kHost].base); }
  QueueNode& node(int proc) {
    char* hosted_end = set_->region->parts[static_cast<std::size_t>(proc)].base +
                       static_cast<std::size_t>(set_->counts[static_cast<std::size_t>(proc)]) * sizeof(node::NodeMutex);
    return *reinterpret_cast<QueueNode*>(hosted_end);
  }
  // Another process holds the mutex, or has come behind.
  void enters(int proc, std::uint32_t turn) { store(tail(), queue_word::make(turn, proc)); }
  void links(int proc, std::uint32_t turn_of_0) {
    store(node(0).next_of(turn_of_0), queue_word::make(turn_of_0, proc));
  }
  void grants(int proc, std::uint32_t turn) { store(node(0).granted, queue_word::make(turn, proc)); }
  Status lock() { return job_->lock(*set_, 0, kHost); }
  Status unlock() { return job_->unlock(*set_, 0, kHost); }
  // Returns when the waiters have polled some more times.
  void let_waiters_poll() {
    const int before = job_.network().progress_count();
    while (job_.network().progress_count() < before + 5) std::this_thread::yield();
  }
  template <class Condition>
  void until(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  Job job_{std::vector<int>{0, 1, 2, 0}};
  std::unique_ptr<typename Job::MutexSet> set_ = job_.make_mutexes({0, 1, 0, 0});
};
class QueueTest : public QueueOf<QueueJob> {};

using SignalsJob = RuntimeForTest<testing::SignalsTransport>;
class SignaledQueueTest : public QueueOf<SignalsJob> {
 protected:
  int count(FakeCallKind kind) { return job_.network().count(kind); }
};

TEST_F(SignaledQueueTest, AnUncontendedLockAndUnlockAreOneAtomicAndOneSignal) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(lock().ok());
    ASSERT_TRUE(unlock().ok());
    EXPECT_EQ(tail(), 0);
  }
  EXPECT_EQ(count(FakeCallKind::kAtomic), 3);
  EXPECT_EQ(count(FakeCallKind::kSignal), 3);
  EXPECT_EQ(count(FakeCallKind::kFlush), 0);
}

TEST_F(SignaledQueueTest, UnlockReturnsBeforeItsSignalArrives) {
  job_.network().holds_signals = true;
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  EXPECT_NE(tail(), 0);
  EXPECT_EQ(node(0).next_of(0), queue_word::released(0));
  job_.network().deliver_signals();
  EXPECT_EQ(tail(), 0);
}

TEST_F(SignaledQueueTest, ALateSignalDoesNotFreeTheMutexOfASuccessor) {
  job_.network().holds_signals = true;
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  enters(kOther, 9);
  job_.network().deliver_signals();
  EXPECT_EQ(tail(), queue_word::make(9, kOther));
}

// The late successor of turn 0 and the early one of turn 1 come in the wrong order.
TEST_F(SignaledQueueTest, ASuccessorOfTheNextTurnDoesNotTakeThePlaceOfALateOne) {
  job_.network().holds_signals = true;
  ASSERT_TRUE(lock().ok());
  enters(kOther, 9);
  ASSERT_TRUE(unlock().ok());
  std::thread again([&] {
    EXPECT_TRUE(lock().ok());  // behind kOther
    EXPECT_TRUE(unlock().ok());
  });
  until([&] { return load(node(kOther).next_of(9)) == queue_word::make(9, 0); });
  links(kNeighbour, 1);
  EXPECT_EQ(load(node(0).next_of(0)), queue_word::released(0)) << "what kOther has to find";
  grants(kOther, 9);
  again.join();
  EXPECT_EQ(node(kNeighbour).granted, queue_word::make(1, 0));
}

TEST_F(SignaledQueueTest, AFailedTryTakesNoTurn) {
  enters(kOther, 9);
  EXPECT_FALSE(tried(job_, *set_, 0, kHost));
  EXPECT_EQ(node(0).turn, 0u);
}

TEST_F(SignaledQueueTest, AHandOverIsOneSignalBehindTheStoresToTheHost) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(job_->put_value(5, job_.template at<int>(kHost, 0), kHost).ok());
  enters(kOther, 9);
  links(kOther, 0);
  job_.network().forget_calls();
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(job_.network().flushed(), std::vector<int>{kHost});
  EXPECT_EQ(count(FakeCallKind::kSignal), 1);
  EXPECT_EQ(count(FakeCallKind::kAtomic), 0);
  EXPECT_EQ(node(kOther).granted, queue_word::make(0, 0));
}

TEST_F(SignaledQueueTest, AFenceCoversTheSignalOfAnUnlock) {
  job_.network().holds_signals = true;
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  EXPECT_FALSE(job_->has_unflushed_stores(kHost));
  ASSERT_TRUE(job_->fence(kHost).ok());
  EXPECT_EQ(tail(), 0);
}

TEST_F(QueueTest, ThreadsAreServedInTheOrderInWhichTheyCame) {
  ASSERT_TRUE(lock().ok());
  std::vector<int> served;
  std::vector<std::thread> waiters;
  for (int t = 0; t < 4; ++t) {
    const std::uint32_t before = node(0).drawn.load();
    waiters.emplace_back([&, t] {
      EXPECT_TRUE(lock().ok());
      served.push_back(t);
      EXPECT_TRUE(unlock().ok());
    });
    until([&] { return node(0).drawn.load() != before; });
  }
  ASSERT_TRUE(unlock().ok());
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(tail(), 0);
}

TEST_F(QueueTest, AProcessElsewhereIsServedFirstWhenItCameFirst) {
  enters(kOther, 7);
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE(lock().ok());
    entered.store(true);
    EXPECT_TRUE(unlock().ok());
  });
  until([&] { return load(node(kOther).next_of(7)) == queue_word::make(7, 0); });
  let_waiters_poll();
  EXPECT_FALSE(entered.load());
  grants(kOther, 7);
  waiter.join();
  EXPECT_EQ(tail(), 0);
}

TEST_F(QueueTest, AWaiterCausesNoNetworkTraffic) {
  enters(kOther, 7);
  std::thread waiter([&] { EXPECT_TRUE(lock().ok()); });
  until([&] { return load(node(kOther).next_of(7)) != 0; });
  let_waiters_poll();
  const std::size_t before = job_.network().calls().size();
  let_waiters_poll();
  EXPECT_EQ(job_.network().calls().size(), before);
  grants(kOther, 7);
  waiter.join();
}

TEST_F(QueueTest, AGrantOfAnEarlierTurnIsNotTaken) {
  grants(kOther, 6);
  enters(kOther, 7);
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE(lock().ok());
    entered.store(true);
  });
  until([&] { return load(node(kOther).next_of(7)) != 0; });
  let_waiters_poll();
  EXPECT_FALSE(entered.load());
  grants(kOther, 7);
  waiter.join();
}

TEST_F(QueueTest, UnlockHandsOverToWhoStandsBehind) {
  for (const int proc : {kOther, kNeighbour}) {
    const std::uint32_t turn = node(0).turn;
    ASSERT_TRUE(lock().ok());
    enters(proc, 9);
    links(proc, turn);
    ASSERT_TRUE(unlock().ok());
    EXPECT_EQ(node(proc).granted, queue_word::make(turn, 0)) << "process " << proc << ", arrived at return";
    EXPECT_EQ(tail(), queue_word::make(9, proc));
    tail() = 0;  // and there it ends
  }
}

TEST_F(QueueTest, UnlockLeavesANoteForASuccessorThatIsNotThereYet) {
  ASSERT_TRUE(lock().ok());
  // The successor comes at the last moment: between a load of `next` and the compare-and-swap.
  bool once = true;
  job_.network().before_atomic = [&] {
    if (std::exchange(once, false)) enters(kOther, 9);
  };
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(node(0).next_of(0), queue_word::released(0));
  EXPECT_EQ(tail(), queue_word::make(9, kOther));
}

TEST_F(QueueTest, ASuccessorThatComesBeforeTheNoteGetsTheMutex) {
  ASSERT_TRUE(lock().ok());
  enters(kOther, 9);
  // Its link arrives between the compare-and-swap of the tail and that of the own node.
  int atomics = 0;
  job_.network().before_atomic = [&] {
    if (++atomics == 2) links(kOther, 0);
  };
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(node(kOther).granted, queue_word::make(0, 0));
  EXPECT_EQ(node(0).next_of(0), queue_word::make(0, kOther));
}

TEST_F(QueueTest, AHolderThatHasLeftIsNotWaitedFor) {
  node(kOther).next_of(7) = queue_word::released(7);
  enters(kOther, 7);
  ASSERT_TRUE(lock().ok());
  EXPECT_EQ(node(kOther).next_of(7), queue_word::make(7, 0));
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(tail(), 0);
}

TEST_F(QueueTest, ANoteOfAnEarlierTurnIsNotTaken) {
  node(kOther).next_of(7) = queue_word::released(6);
  enters(kOther, 7);
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE(lock().ok());
    entered.store(true);
  });
  until([&] { return load(node(kOther).next_of(7)) == queue_word::make(7, 0); });
  let_waiters_poll();
  EXPECT_FALSE(entered.load());
  grants(kOther, 7);
  waiter.join();
}

TEST_F(QueueTest, AMutexWhoseSuccessorLeftTheQueueCanBeLocked) {
  ASSERT_TRUE(lock().ok());
  const std::int64_t mine = tail();
  enters(kOther, 9);
  ASSERT_TRUE(unlock().ok());
  store(tail(), mine);
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(tail(), 0);
}

TEST_F(QueueTest, ALinkOfAnEarlierTurnIsNotFollowed) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  links(kOther, 0);
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(tail(), 0);
  EXPECT_EQ(node(kOther).granted, 0);
}

TEST_F(QueueTest, TrylockLeavesTheQueueAsItWas) {
  enters(kOther, 7);
  EXPECT_FALSE(tried(job_, *set_, 0, kHost));
  EXPECT_EQ(tail(), queue_word::make(7, kOther));
  EXPECT_EQ(node(kOther).next_of(7), 0);
  tail() = 0;
  EXPECT_TRUE(tried(job_, *set_, 0, kHost)) << "the next try of this process";
}

TEST_F(QueueTest, TrylockLosesToALockThatComesInBetween) {
  bool once = true;
  job_.network().before_atomic = [&] {
    if (std::exchange(once, false)) enters(kOther, 7);
  };
  EXPECT_FALSE(tried(job_, *set_, 0, kHost));
  EXPECT_EQ(tail(), queue_word::make(7, kOther));
}

TEST_F(QueueTest, UnlockByAnotherThreadIsAnErrorAndChangesNothing) {
  ASSERT_TRUE(lock().ok());
  const std::int64_t before = tail();
  std::thread other([&] { EXPECT_EQ(unlock().code(), Code::kMutex); });
  other.join();
  EXPECT_EQ(tail(), before);
  EXPECT_TRUE(unlock().ok());
}

TEST_F(QueueTest, UnlockFreesTheMutexAfterTheHoldersStoresToTheHost) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(job_->put_value(5, job_.at<int>(kHost, 0), kHost).ok());
  job_.network().before_atomic = [&] { EXPECT_EQ(*job_.at<int>(kHost, 0), 5); };
  ASSERT_TRUE(unlock().ok());
  EXPECT_EQ(tail(), 0);
}

// The hand-over goes to another process than the stores, so order at one target is not enough.
template <class Job>
class HandOverTest : public QueueOf<Job> {};
using HandOverJobs = ::testing::Types<QueueJob, RuntimeForTest<testing::InOrderTransport>>;
TYPED_TEST_SUITE(HandOverTest, HandOverJobs);

TYPED_TEST(HandOverTest, ComesAfterTheHoldersStoresToTheHost) {
  auto& job = this->job_;
  ASSERT_TRUE(this->lock().ok());
  ASSERT_TRUE(job->put_value(5, job.template at<int>(this->kHost, 0), this->kHost).ok());
  this->enters(this->kOther, 9);
  this->links(this->kOther, 0);
  int seen = 0;
  job.network().on_visible = [&] {
    if (this->load(this->node(this->kOther).granted) != 0 && seen == 0) seen = *job.template at<int>(this->kHost, 0);
  };
  ASSERT_TRUE(this->unlock().ok());
  EXPECT_EQ(seen, 5);
}

TYPED_TEST(HandOverTest, ToANeighbourComesAfterTheHoldersStoresToTheHost) {
  auto& job = this->job_;
  ASSERT_TRUE(this->lock().ok());
  ASSERT_TRUE(job->put_value(5, job.template at<int>(this->kHost, 0), this->kHost).ok());
  this->enters(this->kNeighbour, 9);
  this->links(this->kNeighbour, 0);
  job.network().on_flush = [&](int) { EXPECT_EQ(this->load(this->node(this->kNeighbour).granted), 0); };
  ASSERT_TRUE(this->unlock().ok());
  EXPECT_EQ(*job.template at<int>(this->kHost, 0), 5);
}

}  // namespace armci::runtime::mutex_test
