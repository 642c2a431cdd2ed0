// The end of a child is told once, and nothing is told after stop().

#include "impl/mpi-twosided/process_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace armci::twosided {
namespace {

constexpr int kPatienceTenths = 100;

class ProcessWatchTest : public ::testing::Test {
 protected:
  ~ProcessWatchTest() override { end_child(); }

  void start_child() {
    child_ = fork();
    if (child_ == 0) {
      for (;;) pause();
    }
  }
  void end_child() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  bool told_within_patience() const {
    for (int tenths = 0; tenths < kPatienceTenths && told_ == 0; ++tenths) usleep(100000);
    return told_ != 0;
  }

  pid_t child_ = -1;
  std::atomic<int> told_{0};
};

TEST_F(ProcessWatchTest, EndIsToldOnce) {
  start_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(child_, [this] { ++told_; }).ok());
  EXPECT_EQ(told_, 0);
  end_child();
  EXPECT_TRUE(told_within_patience());
  watch.stop();
  EXPECT_EQ(told_, 1);
}

TEST_F(ProcessWatchTest, EndBeforeTheStartIsTold) {
  start_child();
  const pid_t pid = child_;
  end_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(pid, [this] { ++told_; }).ok());
  EXPECT_EQ(told_, 1);
}

TEST_F(ProcessWatchTest, NothingIsToldAfterStop) {
  start_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(child_, [this] { ++told_; }).ok());
  watch.stop();
  end_child();
  watch.stop();
  EXPECT_EQ(told_, 0);
}

TEST_F(ProcessWatchTest, TimeThatIsUpIsTold) {
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_timer(0, [this] { ++told_; }).ok());
  EXPECT_TRUE(told_within_patience());
}

TEST_F(ProcessWatchTest, TimerThatIsStoppedTellsNothing) {
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_timer(3600, [this] { ++told_; }).ok());
  watch.stop();
  EXPECT_EQ(told_, 0);
}

}  // namespace
}  // namespace armci::twosided
