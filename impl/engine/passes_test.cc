#include "impl/engine/passes.h"

#include <gtest/gtest.h>

#include <thread>

namespace armci::engine {
namespace {

bool finds() { return true; }
bool finds_nothing() { return false; }

std::int64_t fake_now_us = 0;

class PassesTest : public ::testing::Test {
 protected:
  template <class Pass>
  void wait_with(Pass pass) {
    passes_.pass_while_waiting(pass, [this] { ++wakes_; });
  }
  std::int64_t next_sleep_us() {
    EXPECT_TRUE(passes_.others_serve());
    return passes_.next_sleep_us(false);
  }
  // A sleep of the server thread; a waiting thread finds work in it, and waits still at its end or not.
  void sleep(std::int64_t us, bool waits) {
    wait_with(finds);
    fake_now_us += us;
    if (waits) wait_with(finds_nothing);
  }

  Passes passes_{[] { return fake_now_us; }};
  int wakes_ = 0;
};

TEST_F(PassesTest, APassReturnsWhetherItFoundWork) {
  EXPECT_TRUE(passes_.try_pass(finds));
  EXPECT_FALSE(passes_.try_pass(finds_nothing));
}

TEST_F(PassesTest, OneThreadAtATimeMakesAPass) {
  const auto lock = passes_.lock();
  bool passed = false;
  std::thread other([&] {
    EXPECT_FALSE(passes_.try_pass([&] { return passed = true; }));
    wait_with([&] { return passed = true; });
  });
  other.join();
  EXPECT_FALSE(passed);
}

TEST_F(PassesTest, OthersServeOnceAWaitingThreadHasFoundWork) {
  EXPECT_FALSE(passes_.others_serve());
  wait_with(finds_nothing);
  EXPECT_FALSE(passes_.others_serve());
  wait_with(finds);
  EXPECT_EQ(next_sleep_us(), Passes::kShortestSleepUs);
}

TEST_F(PassesTest, WorkOfItsOwnMakesTheServerThreadServeUnlessAThreadWaits) {
  wait_with(finds);
  ASSERT_TRUE(passes_.others_serve());
  passes_.work_found();
  EXPECT_TRUE(passes_.others_serve()) << "that thread would have found it a moment later";
  fake_now_us += Passes::kStillWaitsUs;
  passes_.work_found();
  EXPECT_FALSE(passes_.others_serve());
}

TEST_F(PassesTest, OthersServeForSomeTimeAfterTheLastWork) {
  wait_with(finds);
  ASSERT_TRUE(passes_.others_serve());
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_TRUE(passes_.others_serve());
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_FALSE(passes_.others_serve());
}

TEST_F(PassesTest, SleepsDoubleWhileAThreadWaits) {
  wait_with(finds);
  for (const std::int64_t us : {100, 200, 400, 800, 1000, 1000}) {
    EXPECT_EQ(next_sleep_us(), us);
    sleep(us, true);
  }
}

TEST_F(PassesTest, SleepsHalveWhileNoneDoes) {
  wait_with(finds);
  for (int i = 0; i < 5; ++i) sleep(next_sleep_us(), true);
  for (const std::int64_t us : {1000, 500, 250, 125, 100, 100}) {
    EXPECT_EQ(next_sleep_us(), us);
    sleep(us, false);
  }
}

TEST_F(PassesTest, NoThreadPollsSomeTimeAfterTheLastPass) {
  wait_with(finds);
  fake_now_us += Passes::kNoThreadPollsUs - 1;
  EXPECT_FALSE(passes_.no_thread_polls());
  fake_now_us += 1;
  EXPECT_TRUE(passes_.no_thread_polls());
  bool idle_in_pass = true;
  wait_with([&] { return idle_in_pass = passes_.no_thread_polls(); });
  EXPECT_FALSE(idle_in_pass);
}

TEST_F(PassesTest, SleepsBeginAnewAfterWorkOfItsOwn) {
  wait_with(finds);
  for (int i = 0; i < 5; ++i) sleep(next_sleep_us(), true);
  fake_now_us += Passes::kStillWaitsUs;
  passes_.work_found();
  wait_with(finds);
  EXPECT_EQ(next_sleep_us(), Passes::kShortestSleepUs);
}

TEST_F(PassesTest, ASleepIsShortWhileTheClientHasSomethingPending) {
  wait_with(finds);
  for (int i = 0; i < 5; ++i) sleep(next_sleep_us(), true);
  EXPECT_EQ(passes_.next_sleep_us(true), Passes::kShortestSleepUs);
  EXPECT_EQ(passes_.next_sleep_us(false), Passes::kLongestSleepUs);
}

TEST_F(PassesTest, WorkBeforeARestIsNotMissed) {
  EXPECT_FALSE(passes_.others_serve());
  wait_with(finds);
  passes_.set_resting(true);
  EXPECT_TRUE(passes_.has_missed_work());
  EXPECT_TRUE(passes_.others_serve());
  EXPECT_FALSE(passes_.has_missed_work());
}

TEST_F(PassesTest, OnlyAServerThatRestsIsWokenAndOnce) {
  wait_with(finds);
  EXPECT_EQ(wakes_, 0);
  passes_.set_resting(true);
  wait_with(finds_nothing);
  EXPECT_EQ(wakes_, 0);
  wait_with(finds);
  wait_with(finds);
  EXPECT_EQ(wakes_, 1);
}

}  // namespace
}  // namespace armci::engine
