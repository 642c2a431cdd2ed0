#include "impl/common/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>

namespace armci::common {
namespace {

TEST(ReadCpuList, TakesNumbersAndRanges) {
  cpu_set_t cpus;
  ASSERT_TRUE(read_cpu_list("2,4-6,9", &cpus));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    EXPECT_EQ(CPU_ISSET(cpu, &cpus) != 0, cpu == 2 || (cpu >= 4 && cpu <= 6) || cpu == 9) << cpu;
  }
  ASSERT_TRUE(read_cpu_list("0-1023", &cpus));
  EXPECT_EQ(CPU_COUNT(&cpus), CPU_SETSIZE);
}

TEST(ReadCpuList, RefusesWhatIsNone) {
  cpu_set_t cpus;
  for (const char* text :
       {"", " ", "a", "1,", ",1", "1-", "-1", "3-2", "1;2", "1 ,2", "1024", "0-1024", "99999999999"}) {
    EXPECT_FALSE(read_cpu_list(text, &cpus)) << "'" << text << "'";
  }
}

TEST(BackgroundThread, IsOffTheCoreOfWhoStartsIt) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> over{false};
  std::thread thread;
  ASSERT_TRUE(start_background_thread(
                  "test", [&] { over.wait(false); }, &thread)
                  .ok());
  cpu_set_t after;
  EXPECT_EQ(pthread_getaffinity_np(thread.native_handle(), sizeof after, &after), 0);
  EXPECT_GE(CPU_COUNT(&after), CPU_COUNT(&before));
  over.store(true);
  over.notify_one();
  thread.join();
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace armci::common
