#include "impl/node/wait_report.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

#include "impl/node/wait.h"

namespace armci::node {
namespace {

std::vector<WaitReport> all_waits() {
  std::vector<WaitReport> waits;
  visit_waits([](void* self, const WaitReport& wait) { static_cast<std::vector<WaitReport>*>(self)->push_back(wait); },
              &waits);
  return waits;
}

TEST(WaitReportTest, EveryKindHasANameButThoseOfThreadsThatServe) {
  for (int kind = 0; kind < kWaitKinds; ++kind) {
    const bool serves = kind >= static_cast<int>(WaitKind::kWork);
    EXPECT_EQ(wait_name(static_cast<WaitKind>(kind)) == nullptr, serves) << kind;
  }
}

TEST(WaitReportTest, AWaitIsListedUntilItsEnd) {
  ReportedWait wait;
  EXPECT_TRUE(all_waits().empty());
  wait.enter(WaitKind::kSignal, 17);
  ASSERT_EQ(all_waits().size(), 1u);
  EXPECT_EQ(all_waits()[0].tid, gettid());
  EXPECT_EQ(all_waits()[0].kind, WaitKind::kSignal);
  EXPECT_EQ(all_waits()[0].since_us, 17);
  EXPECT_EQ(all_waits()[0].mutex, -1);
  wait.leave();
  EXPECT_TRUE(all_waits().empty());
}

TEST(WaitReportTest, AWaitForAMutexNamesItAndItsHolderOfTheMoment) {
  std::atomic<std::int32_t> holder{3};
  const MutexWait scope(5, 1, &holder);
  ASSERT_EQ(all_waits().size(), 1u);
  EXPECT_EQ(all_waits()[0].tid, gettid());
  EXPECT_EQ(all_waits()[0].mutex, 5);
  EXPECT_EQ(all_waits()[0].host, 1);
  EXPECT_EQ(all_waits()[0].holder, 2);
  holder = 0;
  EXPECT_EQ(all_waits()[0].holder, -1);
}

TEST(WaitReportTest, WaitsWithinThatForAMutexAreCountedButNotListed) {
  reset_wait_totals();
  {
    const MutexWait scope(5, 1, nullptr);
    ReportedWait wait;
    wait.enter(WaitKind::kReply, now_us());
    ASSERT_EQ(all_waits().size(), 1u);
    EXPECT_EQ(all_waits()[0].mutex, 5);
    EXPECT_EQ(all_waits()[0].holder, -1) << "not known";
    std::thread([] {
      ReportedWait elsewhere;
      elsewhere.enter(WaitKind::kReply, now_us());
      EXPECT_EQ(all_waits().size(), 2u) << "another thread";
    }).join();
  }
  EXPECT_TRUE(all_waits().empty());
  EXPECT_EQ(wait_totals(WaitKind::kReply).waits, 2u);
  ReportedWait afterwards;
  afterwards.enter(WaitKind::kReply, now_us());
  EXPECT_EQ(all_waits().size(), 1u);
}

TEST(WaitReportTest, MoreWaitsForMutexesThanTheListHoldsLoseNothing) {
  std::list<MutexWait> waits;
  for (int i = 0; i < 70; ++i) waits.emplace_back(i, 0, nullptr);
  EXPECT_EQ(all_waits().size(), 64u);
  while (!waits.empty()) waits.pop_back();  // as scopes end
  EXPECT_TRUE(all_waits().empty());
}

TEST(WaitReportTest, AChildIsAnotherThread) {
  {
    ReportedWait here;
    here.enter(WaitKind::kSignal, 1);
  }
  const pid_t child = fork();
  if (child == 0) {
    ReportedWait there;
    there.enter(WaitKind::kSignal, 1);
    _exit(all_waits().at(0).tid == gettid() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(WaitReportTest, ACollectiveCallIsListedFromItsStartAndCounted) {
  reset_wait_totals();
  {
    const CollectiveWait wait;
    ASSERT_EQ(all_waits().size(), 1u);
    EXPECT_EQ(all_waits()[0].kind, WaitKind::kCollective);
  }
  EXPECT_TRUE(all_waits().empty());
  EXPECT_EQ(wait_totals(WaitKind::kCollective).waits, 1u);
}

}  // namespace
}  // namespace armci::node
