#include "impl/node/wait.h"

namespace armci::node {
namespace {

constexpr int kSpinsWithFreeCores = 4000;  // about 50 us of pause instructions, a few context switches
constexpr int kSpinsWhenShared = 20;

std::atomic<int> spins{kSpinsWhenShared};

}  // namespace

void set_spin_policy(int processes, int cpus, int spin) {
  const int chosen = spin >= 0 ? spin : (processes <= cpus ? kSpinsWithFreeCores : kSpinsWhenShared);
  spins.store(chosen, std::memory_order_relaxed);
}

int spin_iterations() { return spins.load(std::memory_order_relaxed); }

bool has_free_cores() { return spin_iterations() > kSpinsWhenShared; }

std::int64_t now_us() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

timespec timespec_of(std::int64_t us) { return {us / 1'000'000, us % 1'000'000 * 1000}; }

}  // namespace armci::node
