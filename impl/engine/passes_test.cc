#include "impl/engine/passes.h"

#include <gtest/gtest.h>

#include <thread>

namespace armci::engine {
namespace {

bool finds() { return true; }
bool finds_nothing() { return false; }

class PassesTest : public ::testing::Test {
 protected:
  template <class Pass>
  void help(Pass pass) {
    passes_.pass_while_waiting(pass, [this] { ++wakes_; });
  }

  Passes passes_;
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
  EXPECT_FALSE(passes_.is_helped());
  help(finds_nothing);
  EXPECT_FALSE(passes_.is_helped());
  help(finds);
  EXPECT_TRUE(passes_.is_helped());
  passes_.work_found();
  EXPECT_FALSE(passes_.is_helped()) << "its own pass found the next request";
}

TEST_F(PassesTest, HelpEndsSomeTimeAfterTheLastWork) {
  help(finds);
  ASSERT_TRUE(passes_.is_helped());
  while (passes_.is_helped()) std::this_thread::yield();
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
