#include "impl/node/waiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace armci::node {
namespace {

TEST(WaiterTest, AWaiterSpinsThenYieldsThenSleeps) {
  set_spin_policy(1, 1, 30);
  Waiter waiter(WaitKind::kBarrier);
  int steps = 0;
  while (waiter.busy()) ++steps;
  EXPECT_GT(steps, 30);
  EXPECT_LT(steps, 200);
  EXPECT_FALSE(waiter.busy());
  set_spin_policy(1, 1, -1);
}

TEST(WaiterTest, PollsForATimeAndThenSleepsLongerAndLonger) {
  constexpr std::int64_t kLongestUs = 50;
  set_spin_policy(1, 1, -1);
  Waiter waiter(WaitKind::kRequests, kLongestUs);
  const std::int64_t start = now_us();
  EXPECT_EQ(waiter.pause_us(), 0);
  std::int64_t last = 0;
  while (last < kLongestUs) {
    const std::int64_t us = waiter.pause_us();
    EXPECT_GE(us, last);
    EXPECT_LE(us, kLongestUs);
    last = us;
  }
  EXPECT_GE(now_us() - start, 8 * kLongestUs) << "an eighth of what it has waited";
  waiter.restart();
  EXPECT_EQ(waiter.pause_us(), 0) << "something has come";
}

TEST(WaiterTest, SleepsOfALongWaitAreAThirtySecondOfItAndAtMostFourMilliseconds) {
  Waiter waiter(WaitKind::kReply);
  const std::int64_t start = now_us();
  std::int64_t longest = 0;
  while (now_us() - start < 10'000) longest = std::max(longest, waiter.pause_us());
  EXPECT_GT(longest, 100) << "more than the kind's own limit";
  EXPECT_LE(longest, (now_us() - start) / 32);
  while (now_us() - start < 150'000) longest = std::max(longest, waiter.pause_us());
  EXPECT_GT(longest, 2000);
  EXPECT_LE(longest, 4000);
}

TEST(WaiterTest, WhereNoSleepIsAllowedThePauseIsZero) {
  Waiter waiter(WaitKind::kRequests, 0);
  const std::int64_t start = now_us();
  while (now_us() - start < 5000) EXPECT_EQ(waiter.pause_us(), 0);
}

TEST(WaiterTest, EndsEveryStepByItself) {
  Waiter waiter(WaitKind::kSignal);
  for (int i = 0; i < spin_iterations() + 100; ++i) waiter.step();
}

struct Seen {
  int waits = 0;
  WaitKind kind = WaitKind::kElement;
};

Seen read_waits() {
  Seen seen;
  visit_waits(
      [](void* self, const WaitReport& wait) {
        ++static_cast<Seen*>(self)->waits;
        static_cast<Seen*>(self)->kind = wait.kind;
      },
      &seen);
  return seen;
}

TEST(WaiterTest, AWaitIsSeenAfterItsBusyPartAndCountedAtItsEnd) {
  reset_wait_totals();
  {
    Waiter waiter(WaitKind::kNotification);
    ASSERT_TRUE(waiter.busy());
    EXPECT_EQ(read_waits().waits, 0);
    while (waiter.busy()) {
    }
    EXPECT_EQ(read_waits().waits, 1);
    EXPECT_EQ(read_waits().kind, WaitKind::kNotification);
    EXPECT_EQ(wait_totals(WaitKind::kNotification).waits, 0);
    waiter.step();
  }
  EXPECT_EQ(read_waits().waits, 0);
  EXPECT_EQ(wait_totals(WaitKind::kNotification).waits, 1);
  EXPECT_GT(wait_totals(WaitKind::kNotification).microseconds, 0);
}

TEST(WaiterTest, AWaitThatBeginsAnewIsBusyAgain) {
  Waiter waiter(WaitKind::kReply);
  while (waiter.busy()) {
  }
  waiter.restart();
  EXPECT_TRUE(waiter.busy());
  EXPECT_EQ(read_waits().waits, 1) << "it is the same wait";
}

TEST(WaiterTest, ServersAreNotSeen) {
  Waiter waiter(WaitKind::kRequests);
  while (waiter.busy()) {
  }
  EXPECT_EQ(read_waits().waits, 0);
}

TEST(WaiterTest, MoreWaitsThanCanBeNotedAreWaitsAllTheSame) {
  reset_wait_totals();
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 100; ++i) {
    waiters.push_back(std::make_unique<Waiter>(WaitKind::kSignal));
    waiters.back()->idle();
  }
  EXPECT_EQ(read_waits().waits, 64);
  waiters.clear();
  EXPECT_EQ(read_waits().waits, 0);
  EXPECT_EQ(wait_totals(WaitKind::kSignal).waits, 100);
}

TEST(WaiterTest, InAQueueOnlyTheFirstIsBusy) {
  Waiter first(WaitKind::kMutexTurn);
  Waiter later(WaitKind::kMutexTurn);
  first.step_behind(1);
  EXPECT_EQ(read_waits().waits, 0);
  later.step_behind(3);
  EXPECT_EQ(read_waits().waits, 1);
}

}  // namespace
}  // namespace armci::node
