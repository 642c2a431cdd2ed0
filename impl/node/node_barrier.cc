#include "impl/node/node_barrier.h"

#include <climits>

#include "impl/node/node_memory.h"
#include "impl/node/waiter.h"

namespace armci::node {
namespace {

// Waits until *word differs from (while_equal) or becomes (!while_equal) `value`. The sleeper count is raised before
// the kernel reads the word a last time. The process that changes the word reads the count afterwards. Both are
// sequentially consistent, so a wake-up cannot be lost.
template <bool while_equal>
void await(std::atomic<std::uint32_t>* word, std::uint32_t value, std::atomic<std::uint32_t>* sleepers) {
  Waiter waiter(WaitKind::kBarrier);
  for (;;) {
    const std::uint32_t seen = word->load(std::memory_order_acquire);
    if ((seen == value) != while_equal) return;
    const bool busy = waiter.busy();
    if (waiter.liveness_due()) node_memory().check_peers(WaitKind::kBarrier);
    if (busy) continue;
    sleepers->fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t again = word->load(std::memory_order_seq_cst);
    if ((again == value) == while_equal) waiter.sleep_on(word, again, kLivenessPeriodUs);
    sleepers->fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace

void barrier_release(Barrier* barrier) {
  barrier->arrived.store(0, std::memory_order_relaxed);
  barrier->generation.fetch_add(1, std::memory_order_seq_cst);
  if (barrier->sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(&barrier->generation, INT_MAX);
}

void barrier_wait(Barrier* barrier, int members) {
  if (members == 1) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return;
  }
  const std::uint32_t generation = barrier->generation.load(std::memory_order_relaxed);
  if (barrier->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(members)) {
    barrier_release(barrier);
  } else {
    await<true>(&barrier->generation, generation, &barrier->sleepers);
  }
}

void barrier_follow(Barrier* barrier) {
  const std::uint32_t generation = barrier->generation.load(std::memory_order_relaxed);
  barrier->arrived.fetch_add(1, std::memory_order_seq_cst);
  if (barrier->sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(&barrier->arrived, INT_MAX);
  await<true>(&barrier->generation, generation, &barrier->sleepers);
}

void barrier_gather(Barrier* barrier, int members) {
  await<false>(&barrier->arrived, static_cast<std::uint32_t>(members - 1), &barrier->sleepers);
}

}  // namespace armci::node
