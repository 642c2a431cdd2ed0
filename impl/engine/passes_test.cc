#include "impl/engine/passes.h"

#include <gtest/gtest.h>

#include <thread>

namespace armci::engine {
namespace {

bool finds() { return true; }
bool finds_nothing() { return false; }

std::int64_t fake_now_us = 1000000;

class PassesTest : public ::testing::Test {
 protected:
  template <class Pass>
  void wait_with(Pass pass) {
    passes_.pass_while_waiting(pass, [this] { ++wakes_; });
  }
  // A waiting thread finds work in the sleep.
  std::int64_t next_sleep_us(bool inside) {
    EXPECT_TRUE(passes_.others_serve());
    const std::int64_t us = passes_.next_sleep_us(inside, /*pending=*/false);
    wait_with(finds);
    fake_now_us += us;
    return us;
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

TEST_F(PassesTest, OthersServeOnceAThreadWaits) {
  EXPECT_FALSE(passes_.others_serve());
  wait_with(finds_nothing);
  EXPECT_TRUE(passes_.others_serve()) << "a server thread that polls leaves nothing for it to find";
  EXPECT_EQ(next_sleep_us(true), Passes::kShortestSleepUs);
}

TEST_F(PassesTest, AThreadThatWaitsRarelyCountsIfItFindsWork) {
  wait_with(finds);
  fake_now_us += Passes::kStillWaitsUs;
  EXPECT_FALSE(passes_.waits());
  EXPECT_TRUE(passes_.others_serve());
}

TEST_F(PassesTest, WorkOfItsOwnMakesTheServerThreadServeUnlessAThreadIsInside) {
  wait_with(finds);
  ASSERT_TRUE(passes_.others_serve());
  fake_now_us += Passes::kStillWaitsUs;
  passes_.work_found(/*inside=*/true);
  EXPECT_TRUE(passes_.others_serve()) << "that thread would have found it a moment later";
  passes_.work_found(/*inside=*/false);
  EXPECT_FALSE(passes_.others_serve());
}

TEST_F(PassesTest, OthersServeForSomeTimeAfterTheLastWait) {
  wait_with(finds_nothing);
  ASSERT_TRUE(passes_.others_serve());
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_TRUE(passes_.others_serve());
  fake_now_us += Passes::kLongestSleepUs;
  EXPECT_FALSE(passes_.others_serve());
}

TEST_F(PassesTest, SleepsDoubleWhileAThreadIsInside) {
  wait_with(finds);
  for (const std::int64_t us : {100, 200, 400, 800, 1000, 1000}) EXPECT_EQ(next_sleep_us(true), us);
}

TEST_F(PassesTest, SleepsHalveWhileNoneIs) {
  wait_with(finds);
  for (int i = 0; i < 5; ++i) next_sleep_us(true);
  for (const std::int64_t us : {500, 250, 125, 100, 100}) EXPECT_EQ(next_sleep_us(false), us);
}

TEST_F(PassesTest, AThreadWaitsForSomeTimeAfterItsLastPass) {
  wait_with(finds_nothing);
  fake_now_us += Passes::kStillWaitsUs - 1;
  EXPECT_TRUE(passes_.waits());
  fake_now_us += 1;
  EXPECT_FALSE(passes_.waits());
  bool waits = false;
  wait_with([&] { return waits = passes_.waits(); });
  EXPECT_TRUE(waits);
}

TEST_F(PassesTest, SleepsBeginAnewAfterWorkOfItsOwn) {
  wait_with(finds);
  for (int i = 0; i < 5; ++i) next_sleep_us(true);
  passes_.work_found(/*inside=*/false);
  wait_with(finds);
  EXPECT_EQ(next_sleep_us(true), Passes::kShortestSleepUs);
}

TEST_F(PassesTest, ASleepIsShortWhileTheClientHasSomethingPendingAndNoThreadIsInside) {
  wait_with(finds);
  for (int i = 0; i < 6; ++i) next_sleep_us(true);
  EXPECT_EQ(passes_.next_sleep_us(/*inside=*/true, /*pending=*/true), Passes::kLongestSleepUs);
  EXPECT_EQ(passes_.next_sleep_us(/*inside=*/false, /*pending=*/true), Passes::kShortestSleepUs);
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
