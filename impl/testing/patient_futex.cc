#include "impl/testing/patient_futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "impl/node/wait.h"

namespace armci::node {
namespace {

std::atomic<int> lost{0};

}  // namespace

int lost_wakeups() { return lost.load(); }

void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t timeout_us) {
  futex_wait_bits(word, expected, FUTEX_BITSET_MATCH_ANY, timeout_us);
}

void futex_wait_bits(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::uint32_t bits,
                     std::int64_t timeout_us) {
  const bool patient = timeout_us == kLivenessPeriodUs;
  const std::int64_t wait_us = patient ? std::int64_t{kPatienceSeconds} * 1'000'000 : timeout_us;
  timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  const std::int64_t nanoseconds = deadline.tv_nsec + wait_us % 1'000'000 * 1000;
  deadline.tv_sec += wait_us / 1'000'000 + nanoseconds / 1'000'000'000;
  deadline.tv_nsec = nanoseconds % 1'000'000'000;
  const long result = syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(word), FUTEX_WAIT_BITSET, expected,
                              &deadline, nullptr, bits);
  if (patient && result != 0 && errno == ETIMEDOUT) lost.fetch_add(1);
}

void futex_wake(const std::atomic<std::uint32_t>* word, int count) {
  syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(word), FUTEX_WAKE, count, nullptr, nullptr, 0);
}

void futex_wake_bits(const std::atomic<std::uint32_t>* word, std::uint32_t bits) {
  syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(word), FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, bits);
}

}  // namespace armci::node
