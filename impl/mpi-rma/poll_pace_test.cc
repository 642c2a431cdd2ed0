#include "impl/mpi-rma/poll_pace.h"

#include <gtest/gtest.h>

namespace armci::rma {
namespace {

// Polls until the sleep is no longer `us`, at most `most` times.
int polls_at(PollPace* pace, std::int64_t us, int most) {
  int polls = 0;
  for (; polls < most && pace->sleep_us() == us; ++polls) pace->polled(false, false);
  return polls;
}

TEST(PollPaceTest, WithoutWorkSleepsGetLongAfterATenthOfASecond) {
  PollPace pace(100);
  EXPECT_EQ(polls_at(&pace, 100, 5000), 1000);
  EXPECT_EQ(pace.sleep_us(), 3000);
  EXPECT_EQ(polls_at(&pace, 3000, 5000), 5000);
}

TEST(PollPaceTest, UnannouncedWorkBringsTheIntervalBack) {
  PollPace pace(100);
  polls_at(&pace, 100, 5000);
  pace.polled(true, false);
  EXPECT_EQ(polls_at(&pace, 100, 5000), 2) << "one poll may have been slow by chance";
  for (int i = 0; i < 10; ++i) pace.polled(true, false);
  EXPECT_EQ(polls_at(&pace, 100, 5000), 1000);
}

TEST(PollPaceTest, AnnouncedWorkNeedsNoPolls) {
  PollPace pace(100);
  polls_at(&pace, 100, 5000);
  for (int i = 0; i < 100; ++i) pace.polled(true, true);
  EXPECT_EQ(pace.sleep_us(), 3000);
}

TEST(PollPaceTest, InsideMpiSleepsDoubleBeforeTheThreadPolls) {
  PollPace pace(100);
  int quiet = 0;
  while (!pace.inside()) ++quiet;
  EXPECT_EQ(quiet, 4) << "200, 400, 800 and 1000 us";
  EXPECT_EQ(pace.sleep_us(), 1000);
  EXPECT_TRUE(pace.inside());
}

TEST(PollPaceTest, InsideMpiAfterAnIdleTimePollsOnceInAMillisecond) {
  PollPace pace(100);
  polls_at(&pace, 100, 5000);
  EXPECT_TRUE(pace.inside());
  EXPECT_EQ(pace.sleep_us(), 1000);
}

TEST(PollPaceTest, AnIntervalLongerThanTheLimitsIsKept) {
  PollPace pace(5000);
  EXPECT_TRUE(pace.inside());
  EXPECT_EQ(pace.sleep_us(), 5000);
}

}  // namespace
}  // namespace armci::rma
