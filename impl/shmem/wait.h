// How a process waits for another one on the same machine: spin briefly, then yield the core, then block.
//
// Spinning is worth its price only while every process can have a core; with more processes than cores the one waited
// for may be the one that needs this core, so the spin is cut to almost nothing.
//
// Thread safety: all functions may be called by several threads at once.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

// Sets the spin length for the whole process. `processes` share the machine's CPUs; `spin` is the setting ARMCI_SPIN
// (iterations; negative: chosen from processes and CPUs).
void set_spin_policy(int processes, int spin);
int spin_iterations();

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
// As futex_wait, woken only by futex_wake_bits() calls whose bits meet `bits`.
void futex_wait_bits(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::uint32_t bits,
                     std::int64_t timeout_us);
void futex_wake(const std::atomic<std::uint32_t>* word, int count);
void futex_wake_bits(const std::atomic<std::uint32_t>* word, std::uint32_t bits);

std::int64_t now_us();

// One waiter's progress through spin and yield. step() returns false while busy waiting is still in order and true
// once the caller should block (it then calls a futex function and goes on calling step()).
class Backoff {
 public:
  bool step();

 private:
  int spins_ = 0;
  int yields_ = 0;
};

// For what nobody will wake us for (a plain store by a program): spin, yield, then sleep in growing intervals up to a
// millisecond.
class PollingBackoff {
 public:
  void step();

 private:
  Backoff busy_;
  std::int64_t sleep_us_ = 20;
};

// For what another node is to do, or asks for: look again and again for some time if there are cores for all, then
// sleep an eighth of the time that nothing has come, up to `longest_us`; 0: yield on.
//
// A look costs more than a spin, as it goes into the network's library: what ends it is the time. Who looked for longer
// than the turn of a sleeper allows would wait for a whole turn of a program that computes when it has to be there at
// once. It does not yield on its way, since each yield gives such a program a whole turn too.
class NetworkBackoff {
 public:
  explicit NetworkBackoff(std::int64_t longest_us = 100) : longest_us_(longest_us) {}
  // `streaming`: long messages are on their way, which go on only while somebody looks.
  void step(bool streaming = false);
  // The same for one who sleeps by himself: how long, in microseconds; 0: look again at once.
  std::int64_t next(bool streaming = false);
  // Something has come.
  void restart() { since_us_ = 0; }

 private:
  std::int64_t since_us_ = 0;  // 0: not begun
  std::int64_t longest_us_;
};

// For one who waits in a queue and sees its own place by polling: the next in line polls as above and starts anew
// whenever the queue moves; the others sleep longer the farther back they stand, and leave the cores to those in front.
class QueueBackoff {
 public:
  // `ahead` waiters or owners, at least 1, come before this one.
  void step(std::int64_t ahead);

 private:
  Backoff busy_;
  std::int64_t ahead_ = 0;
  std::int64_t sleep_us_ = 0;
};

// Blocked waits wake this often to look for processes that died.
inline constexpr std::int64_t kLivenessPeriodUs = 100'000;

}  // namespace armci::node
