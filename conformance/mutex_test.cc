// MUTEX: mutual exclusion, fairness, independence.

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// A counter increased by get and put, which loses updates unless the lock keeps others out.
void Increase(Region* region, int host) {
  long value = 0;
  EXPECT_EQ(ARMCI_Get(region->At(host), &value, 8, host), 0);
  ++value;
  EXPECT_EQ(ARMCI_Put(&value, region->At(host), 8, host), 0);
  ARMCI_Fence(host);
}

CLAUSE_TEST(MUTEX, MUTEX1_numbers_may_differ_and_create_works_again, "MUTEX-1") {
  for (int round = 0; round < 10; ++round) {
    // Rank p has p mutexes more than rank 0, and rank 0 may have none.
    const auto mine = [&](int p) { return p + (Np() > 1 ? round % 3 : 1 + round % 3); };
    Mutexes mutexes(mine(Me()));
    for (int host = 0; host < Np(); ++host) {
      for (int mutex = 0; mutex < mine(host); ++mutex) {
        ARMCI_Lock(mutex, host);
        ARMCI_Unlock(mutex, host);
      }
    }
  }
}

CLAUSE_TEST(MUTEX, MUTEX1_there_may_be_none_at_all, "MUTEX-1") {
  { Mutexes none(0); }
  Mutexes works(1);
  Locked held(0, Me());
}

CLAUSE_TEST(MUTEX, MUTEX1_create_before_destroy_is_an_error, "MUTEX-1", "ERR-1") {
  Region region(64);
  Mutexes mutexes(1);
  EXPECT_NE(ARMCI_Create_mutexes(1), 0);
  Agree();
  for (int i = 0; i < 20; ++i) {
    Locked held(0, 0);
    Increase(&region, 0);
  }
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0), 0), 20 * Np()) << "the first set still works";
}

// The ranks of `racers` increase the counter at `counter_host` under mutex `mutex` of `mutex_host`, until they have
// met there often enough. Returns whether the sum is right.
bool CountUnderLock(Region* region, const std::vector<int>& racers, int mutex, int mutex_host, int counter_host) {
  StoreShared<long>(region->Mine(), 0);
  Sync();
  Race race(racers, Scaled(5000L, 500L));
  long mine = 0;
  if (std::find(racers.begin(), racers.end(), Me()) != racers.end()) {
    for (; race.GoOn(); ++mine) {
      Locked held(mutex, mutex_host);
      Increase(region, counter_host);
    }
  }
  Sync();
  const long total = SumOverRanks(mine);
  const long counted = ARMCI_GetValueLong(region->At(counter_host), counter_host);
  EXPECT_EQ(counted, total) << "mutex at " << mutex_host << ", counter at " << counter_host << SeedText();
  return counted == total;
}

CLAUSE_TEST(MUTEX, MUTEX2_no_update_is_lost, "MUTEX-2", "LC-1", DeadlineSeconds(90)) {
  Region region(64);
  Mutexes mutexes(2);
  for (int mutex_host = 0; mutex_host < Np(); ++mutex_host) {
    // The counter lives with the mutex, or elsewhere.
    for (int counter_host : {mutex_host, (mutex_host + 1) % Np()}) {
      if (!CountUnderLock(&region, AllRanks(), 1, mutex_host, counter_host)) return;
    }
  }
}

CLAUSE_TEST(MUTEX, MUTEX2_every_pair_excludes_each_other, "MUTEX-2", NeedsRanks(2), DeadlineSeconds(90)) {
  // Only two contend at a time: exclusion must not depend on the pair.
  Region region(64);
  Mutexes mutexes(1);
  for (int a = 0; a < Np(); ++a) {
    for (int b = a + 1; b < Np(); ++b) {
      if (!CountUnderLock(&region, {a, b}, 0, a, b)) return;
    }
  }
}

// The work of the holder under the lock: long against the hand-over, so that a lock that favours a running process
// never lets the others in.
void HoldForAWhile() {
  const double until = SharedClock() + 100e-6;
  while (SharedClock() < until) {
  }
}

CLAUSE_TEST(MUTEX, MUTEX3_every_process_gets_its_share, "MUTEX-3", NeedsRanks(2), DeadlineSeconds(90)) {
  // All contend without a pause until each has had the lock `share` times. With a fair lock that takes share * Np()
  // turns; a starved rank makes it run on to the limit, far beyond what the scheduler takes from a rank.
  const long share = Scaled(300, 60);
  const long turns_max = 40 * share * Np();
  const auto ranks = static_cast<std::size_t>(Np());
  Region region(8 * ranks);
  Mutexes mutexes(1);
  const int host = 0;
  std::vector<long> turns(ranks);
  Sync();
  for (bool over = false; !over;) {
    ARMCI_Lock(0, host);
    EXPECT_EQ(ARMCI_Get(region.At(host), turns.data(), static_cast<int>(8 * ranks), host), 0);
    over = *std::min_element(turns.begin(), turns.end()) >= share ||
           std::accumulate(turns.begin(), turns.end(), 0L) >= turns_max;
    if (!over) {
      const auto me = static_cast<std::size_t>(Me());
      EXPECT_EQ(ARMCI_PutValueLong(turns[me] + 1, region.As<long>(host, me), host), 0);
      HoldForAWhile();
      ARMCI_Fence(host);
    }
    ARMCI_Unlock(0, host);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_GE(turns[rank], share) << "rank " << rank << " of " << std::accumulate(turns.begin(), turns.end(), 0L)
                                  << " turns in all";
  }
}

CLAUSE_TEST(MUTEX, MUTEX4_mutexes_are_independent, "MUTEX-4", NeedsRanks(2)) {
  constexpr int kMany = 64;
  Mutexes mutexes(kMany);
  Sync();
  if (Me() == 0) {
    // Holds all even ones of every host while the others use all odd ones.
    for (int host = 0; host < Np(); ++host) {
      for (int mutex = 0; mutex < kMany; mutex += 2) ARMCI_Lock(mutex, host);
    }
  }
  Agree();
  if (Me() != 0) {
    for (int round = 0; round < 20; ++round) {
      for (int host = 0; host < Np(); ++host) {
        for (int mutex = 1; mutex < kMany; mutex += 2) {
          ARMCI_Lock(mutex, host);
          ARMCI_Unlock(mutex, host);
        }
      }
    }
  }
  Agree();
  if (Me() == 0) {
    for (int host = 0; host < Np(); ++host) {
      for (int mutex = 0; mutex < kMany; mutex += 2) ARMCI_Unlock(mutex, host);
    }
  }
  Sync();
}

CLAUSE_TEST(MUTEX, MUTEX4_same_number_at_another_process_is_another_mutex, "MUTEX-4", NeedsRanks(2)) {
  // Every rank holds mutex 0 of its own process at the same time.
  Mutexes mutexes(1);
  ARMCI_Lock(0, Me());
  Agree();
  ARMCI_Unlock(0, Me());
  // And mutex 0 of its neighbour's.
  Agree();
  ARMCI_Lock(0, (Me() + 1) % Np());
  Agree();
  ARMCI_Unlock(0, (Me() + 1) % Np());
}

CLAUSE_TEST(MUTEX, MUTEX5_the_host_takes_no_part, "MUTEX-5", "PROG-1", NeedsRanks(2)) {
  Region region(64);
  Mutexes mutexes(1);
  const int host = Np() - 1;
  Sync();
  if (Me() == host) {
    // Asleep in the kernel until the others have had the lock as often as they should.
    WaitUntil(
        [&] {
          usleep(2000);
          return LoadShared<long>(region.Mine()) == 200L * (Np() - 1);
        },
        "the others to lock and unlock");
  } else {
    for (int i = 0; i < 200; ++i) {
      Locked held(0, host);
      Increase(&region, host);
    }
  }
}

CLAUSE_TEST(MUTEX, MUTEX6_waiters_leave_the_core_to_the_holder, "MUTEX-6", DeadlineSeconds(90)) {
  // Long waits: the holder sleeps and computes while all others wait. If waiting ate the cores, the holder's work
  // would not get done before the deadline. Outcome: everything is counted; no rank is left out.
  const int each = Scaled(200, 40);
  Region region(64);
  Mutexes mutexes(1);
  Sync();
  for (int i = 0; i < each; ++i) {
    Locked held(0, 0);
    usleep(300);
    volatile double work = 1;
    for (int k = 0; k < 20000; ++k) work = work * 1.0000001;
    Increase(&region, 0);
  }
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0), 0), static_cast<long>(each) * Np());
}

// CPU time of the calling thread, in seconds.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The calling thread on one core, the first that it may use, until the end of the scope.
class OnOneCore {
 public:
  OnOneCore() {
    moved_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &before_)) CPU_SET(core, &one);
    }
    moved_ = moved_ && sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

  bool moved() const { return moved_; }

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

CLAUSE_TEST(MUTEX, MUTEX6_waiters_do_not_compete_for_the_holders_core, "MUTEX-6", NeedsRanks(2)) {
  // All on one core. While the holder computes, the waiters together may take a fraction of what it takes; waiting
  // that spins takes as much for each of them. CPU time is counted, so other load on the machine does not matter.
  Mutexes mutexes(1);
  const OnOneCore core;
  if (!AllAgreeOn(core.moved())) SkipTest("the system lets no process choose its core");
  const double work = Scaled(0.4, 0.1);
  if (Me() == 0) ARMCI_Lock(0, 0);
  Agree();
  const double begin = CpuSeconds();
  if (Me() == 0) {
    while (CpuSeconds() - begin < work) {
    }
  } else {
    ARMCI_Lock(0, 0);
  }
  const double used = CpuSeconds() - begin;
  ARMCI_Unlock(0, 0);
  const double waiting = SumOverRanks(Me() == 0 ? 0.0 : used);
  EXPECT_LT(waiting, 0.5 * work) << "CPU seconds that waiters took from a holder that needed " << work;
}

}  // namespace
}  // namespace conformance
