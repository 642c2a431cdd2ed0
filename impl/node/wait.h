// The means of waiting (waiter.h): how long to spin, futexes, and a clock.
//
// Spinning pays only while every process can have a core. With more processes than cores, the awaited process may need
// this core, so the spin is cut to almost nothing.
//
// Thread safety: all functions may be called by several threads at once.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace armci::node {

// Sets the spin length for the whole process. `processes` share `cpus`; `spin` is the setting ARMCI_SPIN (iterations;
// negative: chosen from processes and CPUs).
void set_spin_policy(int processes, int cpus, int spin);
int spin_iterations();
// Whether the policy assumes that every process has a core: the spin is longer than that of more processes than cores.
// That is so for every ARMCI_SPIN above 20.
bool has_free_cores();

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// Sleeps until *word may differ from `expected` or `timeout_us` passed; may return early.
//
// Memory ordering: none by itself; the caller reads the word again with the ordering it needs.
void futex_wait(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t timeout_us);
// As futex_wait, woken only by futex_wake_bits() calls whose bits include one of `bits`.
void futex_wait_bits(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::uint32_t bits,
                     std::int64_t timeout_us);
void futex_wake(const std::atomic<std::uint32_t>* word, int count);
void futex_wake_bits(const std::atomic<std::uint32_t>* word, std::uint32_t bits);

std::int64_t now_us();
// For calls of Linux that take one.
timespec timespec_of(std::int64_t us);

// Blocked waits wake this often to check for processes that died.
inline constexpr std::int64_t kLivenessPeriodUs = 100'000;

}  // namespace armci::node
