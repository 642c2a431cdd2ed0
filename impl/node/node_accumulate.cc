#include "impl/node/node_accumulate.h"

#include <utility>

#include "impl/node/waiter.h"

namespace armci::node {

void accumulate_lock_slow(AccumulateLock* lock) {
  // The holder is inside one granule's kernel, well under a microsecond, unless it lost its core: then yielding is what
  // gives it back.
  Waiter waiter(WaitKind::kElement);
  for (;;) {
    if (lock->held.load(std::memory_order_relaxed) == 0 && lock->held.exchange(1, std::memory_order_acquire) == 0)
      return;
    waiter.step();
    if (waiter.liveness_due()) node_memory().check_peers(WaitKind::kElement);
  }
}

void Accumulator::add_straddling(char* dst, const char* src) const {
  const auto address = reinterpret_cast<std::uintptr_t>(dst);
  AccumulateLock* first = accumulate_lock_of(locks_, address);
  AccumulateLock* second = accumulate_lock_of(locks_, address + kGranuleBytes);
  if (second < first) std::swap(first, second);  // one order for all: no deadlock
  accumulate_lock(first);
  accumulate_lock(second);
  kernel_(scale_, src, dst, 1);
  accumulate_unlock(second);
  accumulate_unlock(first);
}

void Accumulator::add_over_granules(char* dst, const char* src, std::size_t bytes) const {
  while (bytes > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(dst);
    const std::size_t left = kGranuleBytes - address % kGranuleBytes;
    std::size_t now = (left < bytes ? left : bytes) & ~(element_bytes_ - 1);
    if (now == 0) {
      add_straddling(dst, src);
      now = element_bytes_;
    } else {
      AccumulateLock* lock = accumulate_lock_of(locks_, address);
      accumulate_lock(lock);
      kernel_(scale_, src, dst, now >> element_shift_);
      accumulate_unlock(lock);
    }
    dst += now;
    src += now;
    bytes -= now;
  }
}

}  // namespace armci::node
