// The calls by which processes put each other to sleep and wake each other. Alone in their file, so that a test can put
// its own in their place and notice a wake-up that is lost.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "impl/node/wait.h"

namespace armci::node {
namespace {

long futex(const std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout,
           std::uint32_t bits) {
  return syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(word), operation, value, timeout, nullptr, bits);
}

timespec monotonic_deadline(std::int64_t timeout_us) {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_sec += timeout_us / 1'000'000;
  t.tv_nsec += timeout_us % 1'000'000 * 1000;
  if (t.tv_nsec >= 1'000'000'000) {
    t.tv_nsec -= 1'000'000'000;
    ++t.tv_sec;
  }
  return t;
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t timeout_us) {
  futex_wait_bits(word, expected, FUTEX_BITSET_MATCH_ANY, timeout_us);
}

void futex_wait_bits(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::uint32_t bits,
                     std::int64_t timeout_us) {
  const timespec deadline = monotonic_deadline(timeout_us);
  futex(word, FUTEX_WAIT_BITSET, expected, &deadline, bits);
}

void futex_wake(const std::atomic<std::uint32_t>* word, int count) {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(count), nullptr, 0);
}

void futex_wake_bits(const std::atomic<std::uint32_t>* word, std::uint32_t bits) {
  futex(word, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bits);
}

}  // namespace armci::node
