#include "impl/shmem/wait.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace armci::node {
namespace {

constexpr int kSpinsWithFreeCores = 4000;  // about 50 us of pause instructions, a few context switches
constexpr int kSpinsWhenShared = 20;
constexpr int kYields = 20;
constexpr std::int64_t kLookUs = 60;  // a round trip or two
constexpr std::int64_t kLookWhenStreamingUs = 2000;
constexpr std::int64_t kLookWhenSharedUs = 5;
constexpr std::int64_t kShortestSleepUs = 10;
constexpr std::int64_t kFirstSleepUs = 20;
constexpr std::int64_t kLongestSleepUs = 1000;

std::atomic<int> spins{kSpinsWhenShared};

int usable_cpus() {
  // The launcher may have bound this process to one core, its neighbours to others: count the machine's.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

void sleep_for(std::int64_t us) {
  const timespec pause{0, us * 1000};
  nanosleep(&pause, nullptr);
}

// Sleeps for *us and makes it half as long again, up to the longest.
void sleep_longer(std::int64_t* us) {
  sleep_for(*us);
  *us = std::min(*us + *us / 2, kLongestSleepUs);
}

}  // namespace

void set_spin_policy(int processes, int spin) {
  const int chosen = spin >= 0 ? spin : (processes <= usable_cpus() ? kSpinsWithFreeCores : kSpinsWhenShared);
  spins.store(chosen, std::memory_order_relaxed);
}

int spin_iterations() { return spins.load(std::memory_order_relaxed); }

std::int64_t now_us() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

bool Backoff::step() {
  if (spins_ < spin_iterations()) {
    ++spins_;
    cpu_relax();
    return false;
  }
  if (yields_ < kYields) {
    ++yields_;
    sched_yield();
    return false;
  }
  return true;
}

void PollingBackoff::step() {
  if (busy_.step()) sleep_longer(&sleep_us_);
}

void NetworkBackoff::step(bool streaming) {
  const std::int64_t us = next(streaming);
  if (us > 0) sleep_for(us);
}

std::int64_t NetworkBackoff::next(bool streaming) {
  const std::int64_t now = now_us();
  if (since_us_ == 0) since_us_ = now;
  const std::int64_t waited = now - since_us_;
  const bool free_cores = spin_iterations() > kSpinsWhenShared;
  if (waited < (!free_cores ? kLookWhenSharedUs : streaming ? kLookWhenStreamingUs : kLookUs)) {
    cpu_relax();
    return 0;
  }
  if (longest_us_ == 0) {
    sched_yield();
    return 0;
  }
  return std::min(std::max(waited / 8, kShortestSleepUs), longest_us_);
}

void QueueBackoff::step(std::int64_t ahead) {
  if (ahead != ahead_) {
    ahead_ = ahead;
    busy_ = {};
    sleep_us_ = std::min(kFirstSleepUs * ahead, kLongestSleepUs);
  }
  if (ahead > 1 || busy_.step()) sleep_longer(&sleep_us_);
}

}  // namespace armci::node
