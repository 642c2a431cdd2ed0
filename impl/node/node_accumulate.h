// Accumulate into node memory, atomic per element against every other accumulate [ACC-2].
//
// Memory is divided into granules of kGranuleBytes; a granule's lock is one of a fixed number of words in node memory,
// chosen by address. An accumulate takes the lock of one granule at a time. So updates of different granules run in
// parallel, and a long one never keeps others out for long. An element belongs to the granule in which it begins; one
// that reaches into the next granule (a double complex on an 8-byte boundary) is added under both locks.
//
// Why locks and not compare-and-swap per element: a lock costs one atomic per granule and lets the kernels run at
// memory speed. Also, complex elements are wider than the CPU's atomics.
//
// Thread safety: any thread of any process of the machine. Memory ordering: acquire and release per granule.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "impl/node/accumulate.h"
#include "impl/node/node_memory.h"
#include "impl/node/wait.h"

namespace armci::node {

inline constexpr std::size_t kGranuleBytes = 16384;
// Lists of atomic updates fetch the memory of the update so many places ahead: each update waits for the memory before
// it, so places that lie apart would cost a miss of the cache each, one after the other.
inline constexpr std::size_t kFetchedAhead = 16;

void accumulate_lock_slow(AccumulateLock* lock);

inline void accumulate_lock(AccumulateLock* lock) {
  if (lock->held.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
    accumulate_lock_slow(lock);
}
inline void accumulate_unlock(AccumulateLock* lock) { lock->held.store(0, std::memory_order_release); }

inline AccumulateLock* accumulate_lock_of(AccumulateLock* locks, std::uintptr_t address) {
  return locks + (address / kGranuleBytes) % kAccumulateLocks;
}

// Bound to one call: type, scale and locks looked up once.
class Accumulator {
 public:
  Accumulator(AccumulateLock* locks, AccType type, const void* scale)
      : locks_(locks),
        type_(type),
        kernel_(accumulate_kernel(type)),
        scale_(scale),
        element_bytes_(element_bytes(type)),
        element_shift_(element_shift(type)) {}

  // dst[i] += scale * src[i]; `bytes` is a multiple of the element size.
  void add(void* dst, const void* src, std::size_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(dst);
    if (address % kGranuleBytes + bytes <= kGranuleBytes) [[likely]] {
      AccumulateLock* lock = accumulate_lock_of(locks_, address);
      accumulate_lock(lock);
      if (bytes <= kSmallBytes) {
        accumulate_small(type_, scale_, src, dst, bytes >> element_shift_);
      } else {
        kernel_(scale_, src, dst, bytes >> element_shift_);
      }
      accumulate_unlock(lock);
    } else {
      add_over_granules(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
    }
  }

  // Adds `count` segments of `bytes` each: place(i) and source(i) are their addresses.
  template <class Place, class Source>
  void add_list(std::size_t count, std::size_t bytes, Place place, Source source) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kFetchedAhead < count) prefetch(place(i + kFetchedAhead));
      add(place(i), source(i), bytes);
    }
  }

 private:
  void prefetch(const void* dst) const {
    __builtin_prefetch(dst, 1);
    __builtin_prefetch(accumulate_lock_of(locks_, reinterpret_cast<std::uintptr_t>(dst)), 1);
  }

  void add_over_granules(char* dst, const char* src, std::size_t bytes) const;
  void add_straddling(char* dst, const char* src) const;

  static constexpr std::size_t kSmallBytes = 32;  // below, a wide kernel's start costs more than it saves

  AccumulateLock* locks_;
  AccType type_;
  AccumulateKernel kernel_;
  const void* scale_;
  std::size_t element_bytes_;
  int element_shift_;
};

}  // namespace armci::node
