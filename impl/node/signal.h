// A signal: a change of an aligned word of 8 bytes that wakes the threads that wait for it. Counts of notifications,
// signals of the program, and grants of mutexes are such words.
//
//   thread that waits                              thread or server that signals
//   wake_up.sleeping += 1                          changes the word, by an atomic read-modify-write or a device
//   seen = wake_up.count                           wake_up.sleeping is not 0:
//   the word is still the old one:                     wake_up.count += 1, and wakes the futex of it
//       sleeps while wake_up.count is `seen`
//   wake_up.sleeping -= 1
//
// Either the second thread reads the first one's `sleeping`, or the first one reads the changed word. A process has one
// WakeUp for all its words, in memory of the node; all bits are zero at the start.
//
// Thread safety: all by any thread of any process of the node.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "impl/node/wait.h"
#include "impl/node/waiter.h"

namespace armci::node {

struct WakeUp {
  std::atomic<std::uint32_t> sleeping;
  std::atomic<std::uint32_t> count;
};
static_assert(sizeof(WakeUp) == 8);

enum class SignalOp : std::uint8_t { kSet = 0, kAdd = 1, kClearIfEqual = 2 };
inline constexpr SignalOp kLastSignalOp = SignalOp::kClearIfEqual;

// The addresses are those of the process to be signaled; wake_up == nullptr: no thread sleeps on the word. sole_writer:
// nothing else changes the word until the signal has, so that it need not be atomic against other changes.
struct Signal {
  std::uint64_t* word;
  std::uint64_t value;
  SignalOp op = SignalOp::kSet;
  WakeUp* wake_up = nullptr;
  bool sole_writer = false;
};

// Wakes the threads that wait for a word.
//
// Memory ordering: the caller changed the word by a sequentially consistent read-modify-write, which the load follows;
// or it has observed that a device has changed the word, and passed a full fence.
inline void wake(WakeUp& wake_up) {
  if (wake_up.sleeping.load(std::memory_order_seq_cst) == 0) return;
  wake_up.count.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(&wake_up.count, INT_MAX);
}

// Memory ordering: sequentially consistent.
inline void apply(const Signal& signal) {
  const std::atomic_ref word(*signal.word);
  std::uint64_t expected = signal.value;
  switch (signal.op) {
    case SignalOp::kSet:
      word.exchange(signal.value, std::memory_order_seq_cst);
      break;
    case SignalOp::kAdd:
      word.fetch_add(signal.value, std::memory_order_seq_cst);
      break;
    case SignalOp::kClearIfEqual:
      word.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
      break;
  }
  if (signal.wake_up != nullptr) wake(*signal.wake_up);
}

// Sleeps until a signal, at most `longest_us`; not at all if changed() holds.
template <class Changed>
void sleep_until_signal(WakeUp& wake_up, Waiter& waiter, std::int64_t longest_us, Changed changed) {
  wake_up.sleeping.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = wake_up.count.load(std::memory_order_seq_cst);
  if (!changed()) waiter.sleep_on(&wake_up.count, seen, longest_us);
  wake_up.sleeping.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace armci::node
