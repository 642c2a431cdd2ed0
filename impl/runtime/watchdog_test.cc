#include "impl/runtime/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

namespace armci::runtime {
namespace {

using watchdog_internal::find_overdue;
using watchdog_internal::Slot;

// Times calls with a clock of the test's own; no watchdog thread runs.
class OverdueTest : public ::testing::Test {
 protected:
  void SetUp() override { watchdog_internal::running = true; }
  void TearDown() override { watchdog_internal::running = false; }
};

TEST_F(OverdueTest, CallIsOverdueAfterTheTimeoutFromItsFirstSight) {
  Slot* slot = begin_call(4, "ARMCI_Get", 3);
  EXPECT_EQ(find_overdue(1000, 100), nullptr);
  EXPECT_EQ(find_overdue(1099, 100), nullptr);
  ASSERT_EQ(find_overdue(1100, 100), slot);
  EXPECT_STREQ(slot->name, "ARMCI_Get");
  EXPECT_EQ(slot->peer, 3);
  EXPECT_EQ(slot->call, 4);
  end_call(slot);
  EXPECT_EQ(find_overdue(2000, 100), nullptr);
}

TEST_F(OverdueTest, NextCallStartsAnew) {
  end_call(begin_call(0, "ARMCI_Put", 1));
  {
    const CallScope first(0, "ARMCI_Put", 1);
    EXPECT_EQ(find_overdue(0, 100), nullptr);
  }
  const CallScope second(0, "ARMCI_Put", 1);
  EXPECT_EQ(find_overdue(150, 100), nullptr);
  EXPECT_NE(find_overdue(250, 100), nullptr);
}

TEST_F(OverdueTest, CallInsideACallBelongsToTheOuterOne) {
  const CallScope outer(1, "ARMCI_Barrier", kNoPeer);
  EXPECT_EQ(find_overdue(0, 100), nullptr);
  { const CallScope inner(2, "ARMCI_Fence", 5); }
  Slot* overdue = find_overdue(100, 100);
  ASSERT_NE(overdue, nullptr);
  EXPECT_STREQ(overdue->name, "ARMCI_Barrier");
}

TEST_F(OverdueTest, ThreadsAreTimedApartAndReturnTheirSlot) {
  Slot* slot_of_thread = nullptr;
  const CallScope mine(1, "ARMCI_Lock", 0);
  EXPECT_EQ(find_overdue(0, 100), nullptr);
  std::thread([&] {
    slot_of_thread = begin_call(2, "ARMCI_Get", 1);
    EXPECT_EQ(find_overdue(60, 100), nullptr);
  }).join();
  // The thread ended inside its call: nothing of it may be left.
  Slot* overdue = find_overdue(500, 100);
  ASSERT_NE(overdue, nullptr);
  EXPECT_NE(overdue, slot_of_thread);
  std::thread([&] {
    Slot* reused = begin_call(3, "ARMCI_Put", 1);
    EXPECT_EQ(reused, slot_of_thread);
    end_call(reused);
  }).join();
}

TEST(CallScopeTest, OffMeansNoSlot) { EXPECT_EQ(begin_call(0, "ARMCI_Put", 1), nullptr); }

std::atomic<int> announced;
std::atomic<bool> requested;
std::promise<int>* ended;
std::promise<void>* noted;

WatchdogHooks recording_hooks() {
  WatchdogHooks hooks;
  hooks.dump_pending = [](int fd) { [[maybe_unused]] const ssize_t written = write(fd, "2 puts pending\n", 15); };
  hooks.peer_requested_dump = [] { return requested.load(); };
  hooks.announce_hang = [] { ++announced; };
  hooks.dumps_complete = [] { return true; };
  hooks.abort_job = [](int code) {
    if (ended != nullptr) ended->set_value(code);
    ended = nullptr;
  };
  hooks.note_dumped = [] {
    if (noted != nullptr) noted->set_value();
    noted = nullptr;
  };
  return hooks;
}

[[gnu::noinline]] void block_until(std::shared_future<int> release) { release.wait(); }

TEST(WatchdogTest, HangPrintsStateAndStacksThenEndsTheJob) {
  announced = 0;
  requested = false;
  std::promise<int> promise;
  ended = &promise;
  const std::shared_future<int> end = promise.get_future();
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(start_watchdog(0.05, recording_hooks()).ok());
  {
    const CallScope call(7, "ARMCI_Lock", 2);
    block_until(end);
  }
  stop_watchdog();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(end.get() & 0xff, 0);
  EXPECT_EQ(announced, 1);
  EXPECT_NE(text.find("ARMCI_Lock to process 2 has not returned for"), std::string::npos) << text;
  EXPECT_NE(text.find("raise ARMCI_TIMEOUT"), std::string::npos) << text;
  EXPECT_NE(text.find("2 puts pending"), std::string::npos) << text;
  EXPECT_NE(text.find("stack of thread " + std::to_string(getpid())), std::string::npos) << text;
  EXPECT_NE(text.find("(armci-watchdog)"), std::string::npos) << text;
  EXPECT_NE(text.find("  #3 "), std::string::npos) << text;
#ifndef __SANITIZE_THREAD__  // holds signals back from threads that wait, and has a thread of its own
  EXPECT_EQ(text.find("no reply"), std::string::npos) << text;
#endif
}

TEST(WatchdogTest, IdleRankPrintsOnRequestOfAPeer) {
  announced = 0;
  requested = true;
  std::promise<void> promise;
  noted = &promise;
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(start_watchdog(0.05, recording_hooks()).ok());
  promise.get_future().wait();
  stop_watchdog();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(announced, 0);
  EXPECT_NE(text.find("another process hangs"), std::string::npos) << text;
  EXPECT_NE(text.find("no thread is inside an ARMCI call"), std::string::npos) << text;
  requested = false;
}

TEST(WatchdogTest, StopsAndStartsAgainAndStaysOffWithoutATimeout) {
  ASSERT_TRUE(start_watchdog(60, recording_hooks()).ok());
  EXPECT_TRUE(watchdog_internal::running);
  stop_watchdog();
  EXPECT_FALSE(watchdog_internal::running);
  stop_watchdog();
  ASSERT_TRUE(start_watchdog(0, recording_hooks()).ok());
  EXPECT_FALSE(watchdog_internal::running);
}

}  // namespace
}  // namespace armci::runtime
