#include "impl/node/node_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <tuple>
#include <vector>

#include "impl/node/wait.h"
#include "impl/testing/patient_futex.h"
#include "impl/testing/processes.h"

namespace armci::node {
namespace {

using testing::run_processes;
using testing::SharedMemory;
using testing::StartLine;

constexpr std::int64_t kNever = 3'600'000'000;  // a waiter that never claims the lock

TEST(NodeMutexTest, TrylockTakesAFreeMutexOnce) {
  NodeMutex mutex{};
  mutex_initialise(&mutex);
  EXPECT_TRUE(mutex_try_lock(&mutex, 0));
  EXPECT_FALSE(mutex_try_lock(&mutex, 0));
  EXPECT_FALSE(mutex_try_lock(&mutex, 1));
  EXPECT_TRUE(mutex_unlock(&mutex, 0));
  EXPECT_TRUE(mutex_try_lock(&mutex, 1));
}

TEST(NodeMutexTest, AllBitsZeroIsAFreeMutex) {
  NodeMutex mutex{};
  mutex_lock(&mutex, 3, 0);
  EXPECT_TRUE(mutex_unlock(&mutex, 3));
}

TEST(NodeMutexTest, UnlockByAnotherProcessIsRefusedAndChangesNothing) {
  NodeMutex mutex{};
  EXPECT_FALSE(mutex_unlock(&mutex, 0));
  mutex_lock(&mutex, 1, 0);
  EXPECT_FALSE(mutex_unlock(&mutex, 0));
  EXPECT_FALSE(mutex_try_lock(&mutex, 2));
  EXPECT_TRUE(mutex_unlock(&mutex, 1));
  EXPECT_FALSE(mutex_unlock(&mutex, 1));
}

// Waiting threads in the order in which they drew their tickets.
class Queue {
 public:
  Queue(NodeMutex* mutex, std::int64_t handoff_us) : mutex_(mutex), handoff_us_(handoff_us) {}
  void add(int name) {
    const std::uint32_t before = mutex_->tail.load();
    threads_.emplace_back([this, name] {
      mutex_lock(mutex_, name, handoff_us_);
      served_.push_back(name);
      mutex_unlock(mutex_, name);
    });
    while (mutex_->tail.load() == before) std::this_thread::yield();
  }
  std::vector<int> join() {
    for (std::thread& thread : threads_) thread.join();
    return served_;
  }

 private:
  NodeMutex* mutex_;
  std::int64_t handoff_us_;
  std::vector<std::thread> threads_;
  std::vector<int> served_;  // under the mutex
};

TEST(NodeMutexTest, WaitersAreServedInTheOrderInWhichTheyCame) {
  for (std::int64_t handoff_us : {std::int64_t{0}, kNever}) {
    NodeMutex mutex{};
    mutex_lock(&mutex, 0, 0);
    Queue queue(&mutex, handoff_us);
    for (int name = 1; name <= 40; ++name) queue.add(name);  // more than there are wake-up bits
    mutex_unlock(&mutex, 0);
    std::vector<int> expected;
    for (int name = 1; name <= 40; ++name) expected.push_back(name);
    EXPECT_EQ(queue.join(), expected);
  }
  EXPECT_EQ(lost_wakeups(), 0);
}

// [MUTEX-3] Once the head waiter has claimed the lock, no other process gets it before, however often it is released.
TEST(NodeMutexTest, AClaimedMutexGoesToTheFirstInLine) {
  for (int round = 0; round < 300; ++round) {
    NodeMutex mutex{};
    mutex_lock(&mutex, 0, 0);
    std::atomic<bool> had{false};
    std::atomic<bool> checked{false};
    std::thread waiter([&] {
      mutex_lock(&mutex, 1, 0);
      had.store(true);
      while (!checked.load()) std::this_thread::yield();
      mutex_unlock(&mutex, 1);
    });
    while ((mutex.state.load() & mutex_state::kHandoff) == 0) std::this_thread::yield();
    mutex_unlock(&mutex, 0);
    const bool overtaken = mutex_try_lock(&mutex, 0);
    EXPECT_FALSE(overtaken) << "round " << round;
    if (overtaken) mutex_unlock(&mutex, 0);
    checked.store(true);
    waiter.join();
    EXPECT_TRUE(had.load());
  }
}

TEST(NodeMutexTest, TheClaimEndsWithTheWaitersTurn) {
  NodeMutex mutex{};
  mutex_lock(&mutex, 0, 0);
  std::thread waiter([&] {
    mutex_lock(&mutex, 1, 0);
    mutex_unlock(&mutex, 1);
  });
  while ((mutex.state.load() & mutex_state::kHandoff) == 0) std::this_thread::yield();
  mutex_unlock(&mutex, 0);
  waiter.join();
  EXPECT_EQ(mutex.state.load(), 0u);
  EXPECT_TRUE(mutex_try_lock(&mutex, 0));
}

// A process that locks again and again does not keep another one out: that one gets its turn while the first goes on.
TEST(NodeMutexTest, AGreedyProcessDoesNotStarveAnother) {
  SharedMemory memory(4096);
  auto* mutex = memory.at<NodeMutex>();
  auto* served = memory.at<std::atomic<int>>(256);
  const int failed = run_processes(2, [&](int index) {
    if (index == 0) {
      for (std::int64_t turns = 0; served->load() < 50; ++turns) {
        mutex_lock(mutex, 0, 100);
        if (!mutex_unlock(mutex, 0)) return 1;
        if (turns == 2'000'000'000) return 2;
      }
      return 0;
    }
    for (int i = 0; i < 50; ++i) {
      mutex_lock(mutex, 1, 100);
      served->fetch_add(1);
      if (!mutex_unlock(mutex, 1)) return 1;
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
}

// handoff_us, spin iterations (-1: as usual)
class NodeMutexStress : public ::testing::TestWithParam<std::tuple<std::int64_t, int>> {};
INSTANTIATE_TEST_SUITE_P(Policies, NodeMutexStress,
                         ::testing::Combine(::testing::Values(std::int64_t{0}, std::int64_t{200}, kNever),
                                            ::testing::Values(0, -1)));

// Plain increments under the mutex by more processes than cores: none is lost, and no process sleeps through its turn.
TEST_P(NodeMutexStress, ProcessesLoseNeitherIncrementsNorWakeUps) {
  const auto [handoff_us, spin] = GetParam();
  constexpr int kProcesses = 5;
  constexpr int kRounds = 5000;
  SharedMemory memory(4096);
  auto* mutex = memory.at<NodeMutex>();
  auto* counter = memory.at<volatile std::int64_t>(256);
  StartLine start(kProcesses);
  const int failed = run_processes(kProcesses, [&, handoff = handoff_us, spin = spin](int index) {
    set_spin_policy(kProcesses, 2, spin);
    start.wait();
    for (int i = 0; i < kRounds; ++i) {
      mutex_lock(mutex, index, handoff);
      const std::int64_t seen = *counter;
      if (i % 4 == 0) std::this_thread::yield();  // a holder loses its core, and the others come to wait
      *counter = seen + 1;
      if (!mutex_unlock(mutex, index)) return 1;
    }
    return lost_wakeups() == 0 ? 0 : 2;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(*counter, kProcesses * kRounds);
  EXPECT_EQ(mutex->state.load(), 0u);
  EXPECT_GT(mutex->tail.load(), 0u) << "no process ever had to wait";
}

// Trylock among waiters takes its chances and breaks nothing.
TEST(NodeMutexTest, TrylockAndLockExcludeEachOther) {
  SharedMemory memory(4096);
  auto* mutex = memory.at<NodeMutex>();
  auto* counter = memory.at<volatile std::int64_t>(256);
  auto* taken = memory.at<std::atomic<std::int64_t>>(512);
  StartLine start(4);
  const int failed = run_processes(4, [&](int index) {
    start.wait();
    for (int i = 0; i < 5000; ++i) {
      if (index % 2 == 0) {
        mutex_lock(mutex, index, 50);
      } else if (!mutex_try_lock(mutex, index)) {
        continue;
      }
      *counter = *counter + 1;
      taken->fetch_add(1);
      if (!mutex_unlock(mutex, index)) return 1;
    }
    return lost_wakeups() == 0 ? 0 : 2;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(*counter, taken->load());
  EXPECT_GE(taken->load(), 10000);
}

}  // namespace
}  // namespace armci::node
