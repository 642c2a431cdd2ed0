#include "impl/common/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

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

// Where a thread may run that is started by one that is bound to the first CPU.
cpu_set_t cpus_of_started_thread(int* expected_of_own) {
  cpu_set_t before;
  EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    *expected_of_own = cpu;
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> over{false};
  std::thread thread;
  EXPECT_TRUE(start_background_thread(
                  "test", [&] { over.wait(false); }, &thread)
                  .ok());
  cpu_set_t after;
  EXPECT_EQ(pthread_getaffinity_np(thread.native_handle(), sizeof after, &after), 0);
  over.store(true);
  over.notify_one();
  thread.join();
  sched_setaffinity(0, sizeof before, &before);
  return after;
}

TEST(BackgroundThread, IsOffTheCoreOfItsStarter) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(set_server_cpus("").ok());
  int first = 0;
  const cpu_set_t cpus = cpus_of_started_thread(&first);
  EXPECT_GE(CPU_COUNT(&cpus), CPU_COUNT(&before));
}

TEST(BackgroundThread, StaysOnTheCoreOfItsStarterWhenToldSo) {
  ASSERT_TRUE(set_server_cpus("own").ok());
  int first = 0;
  const cpu_set_t cpus = cpus_of_started_thread(&first);
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  EXPECT_TRUE(CPU_ISSET(first, &cpus));
  ASSERT_TRUE(set_server_cpus("").ok());
}

TEST(BackgroundThread, RunsOnTheCpusThatItIsGiven) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) last = cpu;
  }
  ASSERT_TRUE(set_server_cpus(std::to_string(last)).ok());
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));  // of the thread that says so
  int first = 0;
  const cpu_set_t cpus = cpus_of_started_thread(&first);
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  EXPECT_TRUE(CPU_ISSET(last, &cpus));
  ASSERT_TRUE(set_server_cpus("").ok());
}

TEST(ServerCpus, AreRefusedWithASentence) {
  EXPECT_FALSE(set_server_cpus("0-").ok());
  EXPECT_NE(std::string(last_cause().text).find("neither a list of CPUs such as 0-3,8 nor own"), std::string::npos);
  EXPECT_FALSE(set_server_cpus("1000").ok());
  EXPECT_NE(std::string(last_cause().text).find("taskset"), std::string::npos);
  ASSERT_TRUE(set_server_cpus("").ok());
}

}  // namespace
}  // namespace armci::common
