#include "impl/node/wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "impl/testing/processes.h"

namespace armci::node {
namespace {

constexpr std::int64_t kHour = 3'600'000'000;

class SpinPolicyTest : public ::testing::Test {
 protected:
  void TearDown() override { set_spin_policy(1, 1, -1); }
};

TEST_F(SpinPolicyTest, ASettingIsTakenAsItIs) {
  set_spin_policy(1000, 1, 17);
  EXPECT_EQ(spin_iterations(), 17);
  set_spin_policy(1, 1, 0);
  EXPECT_EQ(spin_iterations(), 0);
}

TEST_F(SpinPolicyTest, MoreProcessesThanCoresSpinLess) {
  set_spin_policy(1, 1, -1);
  const int alone = spin_iterations();
  set_spin_policy(100000, 1, -1);
  EXPECT_LT(spin_iterations(), alone / 10);
}

TEST(FutexTest, AWordThatDiffersDoesNotBlock) {
  const std::atomic<std::uint32_t> word{2};
  futex_wait(&word, 1, kHour);
  futex_wait_bits(&word, 1, 1, kHour);
}

TEST(FutexTest, ATimeLimitEndsAWaitWithoutAWakeUp) {
  const std::atomic<std::uint32_t> word{1};
  const std::int64_t began = now_us();
  futex_wait(&word, 1, 1500);
  EXPECT_GE(now_us() - began, 1000);
}

TEST(FutexTest, TimeLimitsOverASecondAreLegal) {
  std::atomic<std::uint32_t> word{1};
  std::atomic<bool> back{false};
  std::thread waiter([&] {
    futex_wait(&word, 1, 1'999'999);
    back.store(true);
  });
  while (!back.load()) {
    futex_wake(&word, 1);
    std::this_thread::yield();
  }
  waiter.join();
}

TEST(FutexTest, AWakeReachesAnotherProcess) {
  testing::SharedMemory memory(4096);
  auto* word = memory.at<std::atomic<std::uint32_t>>();
  auto* back = memory.at<std::atomic<int>>(64);
  const int failed = testing::run_processes(3, [=](int index) {
    if (index > 0) {
      while (word->load() == 0) futex_wait(word, 0, kHour);
      back->fetch_add(1);
      return 0;
    }
    word->store(1);
    while (back->load() < 2) {
      futex_wake(word, 2);
      std::this_thread::yield();
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
}

// Only waiters whose bit is named come back, however often it is named.
TEST(FutexTest, AWakeOfBitsWakesThoseOnly) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<int> back[2] = {0, 0};
  std::vector<std::thread> waiters;
  for (std::uint32_t i = 0; i < 2; ++i) {
    waiters.emplace_back([&, i] {
      futex_wait_bits(&word, 0, 1u << i, kHour);
      back[i].store(1);
    });
  }
  while (back[0].load() == 0) {
    futex_wake_bits(&word, 1u << 0);
    std::this_thread::yield();
  }
  for (int i = 0; i < 2000; ++i) {
    futex_wake_bits(&word, 1u << 0);
    std::this_thread::yield();
  }
  EXPECT_EQ(back[1].load(), 0);
  while (back[1].load() == 0) {
    futex_wake_bits(&word, 1u << 1);
    std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
}

}  // namespace
}  // namespace armci::node
