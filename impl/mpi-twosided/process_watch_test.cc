// The watch reports the end of a child once, and reports nothing after stop().

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
  bool reported_within_patience() const {
    // The watch calls back on a thread of its own, at a time that the kernel chooses; the test ends as soon as it has.
    for (int tenths = 0; tenths < kPatienceTenths && reported_ == 0; ++tenths) usleep(100000);
    return reported_ != 0;
  }

  pid_t child_ = -1;
  std::atomic<int> reported_{0};
};

TEST_F(ProcessWatchTest, EndIsReportedOnce) {
  start_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(child_, [this] { ++reported_; }).ok());
  EXPECT_EQ(reported_, 0);
  end_child();
  EXPECT_TRUE(reported_within_patience());
  watch.stop();
  EXPECT_EQ(reported_, 1);
}

TEST_F(ProcessWatchTest, EndBeforeTheStartIsReported) {
  start_child();
  const pid_t pid = child_;
  end_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(pid, [this] { ++reported_; }).ok());
  EXPECT_EQ(reported_, 1);
}

TEST_F(ProcessWatchTest, NothingIsReportedAfterStop) {
  start_child();
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_for(child_, [this] { ++reported_; }).ok());
  watch.stop();
  end_child();
  watch.stop();
  EXPECT_EQ(reported_, 0);
}

TEST_F(ProcessWatchTest, TimeThatIsUpIsReported) {
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_timer(0, [this] { ++reported_; }).ok());
  EXPECT_TRUE(reported_within_patience());
}

TEST_F(ProcessWatchTest, TimerThatIsStoppedReportsNothing) {
  ProcessWatch watch;
  ASSERT_TRUE(watch.start_timer(3600, [this] { ++reported_; }).ok());
  watch.stop();
  EXPECT_EQ(reported_, 0);
}

}  // namespace
}  // namespace armci::twosided
