#include "impl/runtime/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace armci::runtime {
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

cpu_set_t own_cpus() {
  cpu_set_t cpus;
  EXPECT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  return cpus;
}

// The number of a CPU that is in the set: the first, or the last.
int cpu_of(const cpu_set_t& cpus, bool last) {
  int found = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE && (last || found < 0); ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) found = cpu;
  }
  return found;
}

// Where a thread may run that is started, under this setting, by one that is bound to its first CPU.
cpu_set_t cpus_of_started_thread(const std::string& setting) {
  const cpu_set_t before = own_cpus();
  EXPECT_TRUE(set_server_cpus(setting).ok());
  const cpu_set_t unchanged = own_cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &unchanged));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu_of(before, false), &one);
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
  EXPECT_TRUE(set_server_cpus("").ok());
  return after;
}

TEST(BackgroundThread, IsOffTheCoreOfItsStarter) {
  const cpu_set_t before = own_cpus();
  const cpu_set_t cpus = cpus_of_started_thread("");
  EXPECT_GE(CPU_COUNT(&cpus), CPU_COUNT(&before));
}

TEST(BackgroundThread, StaysOnTheCoreOfItsStarterWhenSet) {
  const cpu_set_t cpus = cpus_of_started_thread("own");
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  EXPECT_TRUE(CPU_ISSET(cpu_of(own_cpus(), false), &cpus));
}

TEST(BackgroundThread, RunsOnTheCpusThatItIsGiven) {
  const int last = cpu_of(own_cpus(), true);
  const cpu_set_t cpus = cpus_of_started_thread(std::to_string(last));
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  EXPECT_TRUE(CPU_ISSET(last, &cpus));
}

TEST(ServerCpus, AreRefusedWithASentence) {
  EXPECT_FALSE(set_server_cpus("0-").ok());
  EXPECT_NE(std::string(last_cause().text).find("neither a list of CPUs such as 0-3,8 nor own"), std::string::npos);
  EXPECT_FALSE(set_server_cpus("1000").ok());
  EXPECT_NE(std::string(last_cause().text).find("taskset"), std::string::npos);
  ASSERT_TRUE(set_server_cpus("").ok());
}

}  // namespace
}  // namespace armci::runtime
