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
  void help(Pass pass) {
    passes_.pass_while_waiting(pass, [this] { ++wakes_; });
  }
  // A sleep of the server thread; a waiting thread finds work in it, and waits still at its end or not.
  void sleep_helped(std::int64_t us, bool waits) {
    help(finds);
    fake_now_us += us;
    if (waits) help(finds_nothing);
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
    help([&] { return passed = true; });
  });
  other.join();
  EXPECT_FALSE(passed);
}

TEST_F(PassesTest, AServerIsHelpedOnceAWaitingThreadHasFoundWork) {
  EXPECT_EQ(passes_.helped_sleep_us(), 0);
  help(finds_nothing);
  EXPECT_EQ(passes_.helped_sleep_us(), 0);
  help(finds);
  EXPECT_EQ(passes_.helped_sleep_us(), Passes::kShortestSleepUs);
  passes_.work_found();
  EXPECT_EQ(passes_.helped_sleep_us(), 0) << "its own pass found the next request";
}

TEST_F(PassesTest, HelpEndsSomeTimeAfterTheLastWork) {
  help(finds);
  ASSERT_GT(passes_.helped_sleep_us(), 0);
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_GT(passes_.helped_sleep_us(), 0);
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_EQ(passes_.helped_sleep_us(), 0);
}

TEST_F(PassesTest, SleepsDoubleWhileAThreadWaits) {
  help(finds);
  for (const std::int64_t us : {100, 200, 400, 800, 1000, 1000}) {
    EXPECT_EQ(passes_.helped_sleep_us(), us);
    sleep_helped(us, true);
  }
}

TEST_F(PassesTest, SleepsHalveWhileNoneDoes) {
  help(finds);
  for (int i = 0; i < 5; ++i) sleep_helped(passes_.helped_sleep_us(), true);
  for (const std::int64_t us : {1000, 500, 250, 125, 100, 100}) {
    EXPECT_EQ(passes_.helped_sleep_us(), us);
    sleep_helped(us, false);
  }
}

TEST_F(PassesTest, SleepsBeginAnewAfterWorkOfItsOwn) {
  help(finds);
  for (int i = 0; i < 5; ++i) sleep_helped(passes_.helped_sleep_us(), true);
  passes_.work_found();
  help(finds);
  EXPECT_EQ(passes_.helped_sleep_us(), Passes::kShortestSleepUs);
}

TEST_F(PassesTest, OnlyAServerThatRestsIsWokenAndOnce) {
  help(finds);
  EXPECT_EQ(wakes_, 0);
  passes_.set_resting(true);
  help(finds_nothing);
  EXPECT_EQ(wakes_, 0);
  help(finds);
  help(finds);
  EXPECT_EQ(wakes_, 1);
}

}  // namespace
}  // namespace armci::engine
