#include "impl/node/node_mutex.h"

#include "impl/node/node_memory.h"
#include "impl/node/waiter.h"

namespace armci::node {
namespace {

using mutex_state::kHandoff;
using mutex_state::kLocked;
using mutex_state::kSleeping;

std::uint32_t ticket_bit(std::uint32_t ticket) { return std::uint32_t{1} << (ticket % 32); }

void await_head(NodeMutex* mutex, std::uint32_t ticket) {
  Waiter waiter(WaitKind::kMutex);
  for (;;) {
    const std::uint32_t head = mutex->head.load(std::memory_order_seq_cst);
    if (head == ticket) return;
    // All but the next in line would only take time from those in front.
    const bool busy = ticket - head > 1 ? waiter.idle() : waiter.busy();
    if (waiter.liveness_due()) node_memory().check_peers(WaitKind::kMutex);
    if (busy) continue;
    waiter.sleep_on(&mutex->head, head, kLivenessPeriodUs, ticket_bit(ticket));
  }
}

// One attempt of the head waiter. Its own HANDOFF and SLEEPING bits go with success.
bool take_as_head(NodeMutex* mutex, std::uint32_t* seen) {
  *seen = mutex->state.load(std::memory_order_relaxed);
  return (*seen & kLocked) == 0 &&
         mutex->state.compare_exchange_strong(*seen, kLocked, std::memory_order_acquire, std::memory_order_relaxed);
}

void compete_as_head(NodeMutex* mutex, std::int64_t began_us, std::int64_t handoff_us) {
  Waiter waiter(WaitKind::kMutex);
  bool claimed = false;
  std::uint32_t seen = 0;
  while (!take_as_head(mutex, &seen)) {
    if (!claimed && now_us() - began_us >= handoff_us) {
      mutex->state.fetch_or(kHandoff, std::memory_order_relaxed);
      claimed = true;
    }
    const bool busy = waiter.busy();
    if (claimed && waiter.liveness_due()) node_memory().check_peers(WaitKind::kMutex);
    if (busy) continue;
    seen = mutex->state.load(std::memory_order_relaxed);
    if ((seen & kLocked) == 0) continue;
    if (!mutex->state.compare_exchange_strong(seen, seen | kSleeping, std::memory_order_relaxed)) continue;
    const std::int64_t longest = claimed ? kLivenessPeriodUs : handoff_us + 1;
    waiter.sleep_on(&mutex->state, seen | kSleeping, longest);
  }
}

}  // namespace

void mutex_wake_head(NodeMutex* mutex) {
  mutex->state.fetch_and(~kSleeping, std::memory_order_relaxed);
  futex_wake(&mutex->state, 1);
}

void mutex_lock_slow(NodeMutex* mutex, int rank, std::int64_t handoff_us) {
  // A short hold may end while we spin; a queue costs system calls.
  for (int i = 0; i < spin_iterations() / 8; ++i) {
    if (mutex_try_lock(mutex, rank)) return;
    cpu_relax();
  }
  const std::int64_t began_us = now_us();
  const std::uint32_t ticket = mutex->tail.fetch_add(1, std::memory_order_seq_cst);
  await_head(mutex, ticket);
  compete_as_head(mutex, began_us, handoff_us);
  mutex->owner.store(rank + 1, std::memory_order_relaxed);
  // The next in line becomes head waiter while this process holds the lock. Sequentially consistent, as is the drawing
  // of a ticket. Either this process sees the next ticket here, or its owner sees the new head before it sleeps.
  mutex->head.store(ticket + 1, std::memory_order_seq_cst);
  if (mutex->tail.load(std::memory_order_seq_cst) != ticket + 1) futex_wake_bits(&mutex->head, ticket_bit(ticket + 1));
}

}  // namespace armci::node
