#include "impl/mpi-twosided/sleeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace armci::twosided {
namespace {

constexpr std::int64_t kHourUs = 3'600'000'000;

// A wake-up that is lost costs an hour.
TEST(Sleeper, NoWorkIsLeftWhileTheThreadSleeps) {
  constexpr int kRounds = 20000;
  Sleeper sleeper;
  std::atomic<int> given{0};
  std::atomic<int> done{0};
  std::thread worker([&] {
    while (done.load() < kRounds) {
      const std::uint32_t seen = sleeper.prepare();
      if (given.load(std::memory_order_relaxed) == done.load()) {
        sleeper.sleep(seen, kHourUs);
        continue;
      }
      sleeper.found();
      done.fetch_add(1);
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    given.store(i, std::memory_order_relaxed);
    sleeper.wake();
    // Now and then the worker is to be on its way to sleep when the next work comes.
    while (done.load() < i && i % 2 == 0) std::this_thread::yield();
  }
  worker.join();
  EXPECT_EQ(done.load(), kRounds);
}

TEST(Sleeper, NobodyWakesAThreadThatIsAtWork) {
  Sleeper sleeper;
  const std::uint32_t seen = sleeper.prepare();
  sleeper.found();
  sleeper.wake();
  EXPECT_EQ(sleeper.seen(), seen);
  sleeper.prepare();
  sleeper.wake();
  EXPECT_NE(sleeper.seen(), seen);
  sleeper.sleep(seen, kHourUs);  // ends at once
}

}  // namespace
}  // namespace armci::twosided
