#include "impl/engine/event_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace armci::engine {
namespace {

constexpr std::int64_t kHourUs = 3'600'000'000;

// A notification that is lost costs an hour.
TEST(EventCount, NoWorkIsLeftWhileTheThreadBlocks) {
  constexpr int kRounds = 20000;
  EventCount event_count;
  std::atomic<int> given{0};
  std::atomic<int> done{0};
  std::thread worker([&] {
    while (done.load() < kRounds) {
      const std::uint32_t seen = event_count.prepare_wait();
      if (given.load(std::memory_order_relaxed) == done.load()) {
        event_count.wait(seen, kHourUs);
        continue;
      }
      event_count.cancel_wait();
      done.fetch_add(1);
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    given.store(i, std::memory_order_relaxed);
    event_count.notify();
    // In every second round the next work may come while the worker prepares to block.
    while (done.load() < i && i % 2 == 0) std::this_thread::yield();
  }
  worker.join();
  EXPECT_EQ(done.load(), kRounds);
}

TEST(EventCount, NotifyLeavesABusyThreadAlone) {
  EventCount event_count;
  const std::uint32_t seen = event_count.prepare_wait();
  event_count.cancel_wait();
  event_count.notify();
  EXPECT_EQ(event_count.count(), seen);
  event_count.prepare_wait();
  event_count.notify();
  EXPECT_NE(event_count.count(), seen);
  event_count.wait(seen, kHourUs);  // returns at once
}

}  // namespace
}  // namespace armci::engine
