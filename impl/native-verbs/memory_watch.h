// Detects whether a range of addresses is still the same memory. The pages that the device has registered may no longer
// be those of the program. That happens after munmap, mremap, madvise or a new mapping at the same address.
//
// userfaultfd provides two signs. First, watch() marks a range in the kernel. New mappings (free, munmap, brk, mmap
// over it) have no mark, and unchanged() sees that. Second, the kernel sends an event for munmap, MADV_DONTNEED,
// MADV_FREE and mremap before the call returns, and a thread receives it. The event is necessary because mremap may
// grow marked memory into the range. The mark covers the time before the event arrives.
//
// Only private anonymous memory can be watched: pages of files and of shared memory change in other ways too. The watch
// hooks no function and handles no fault.
//
// After fork the child's memory has no marks, and the parent keeps its pages (Linux 5.12 and later).
//
// Thread safety: watch() and take_gone() by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace armci::verbs {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;

  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

class MemoryWatch {
 public:
  ~MemoryWatch();

  // False: the kernel does not offer userfaultfd, or not to this process.
  bool start();

  // Whole pages. False: the range cannot be watched. The caller checks other watched ranges that overlap it before.
  bool watch(const Range& range);
  // Whether a watched range is still marked memory throughout, and no part of it is being moved.
  bool unchanged(const Range& range) const;
  // Calls gone(range) for each event since the last call. All calls of munmap, madvise or mremap that have returned are
  // among them. A range may be larger than the change.
  template <class Gone>
  void take_gone(Gone gone) {
    if (!heard_any_.load(std::memory_order_acquire)) return;
    std::unique_lock lock(mutex_);
    const auto heard = heard_;
    const std::size_t count = std::exchange(heard_count_, 0);
    heard_any_.store(false, std::memory_order_relaxed);
    lock.unlock();
    for (std::size_t i = 0; i < count; ++i) gone(heard[i]);
  }

 private:
  static constexpr std::size_t kHeardMax = 32;

  void listen();
  void hear();
  void note(const Range& range);

  int descriptor_ = -1;
  int wake_ = -1;
  // Held for a few instructions only, and never during an allocation or free, since those may wait for the listener.
  std::mutex mutex_;
  std::array<Range, kHeardMax> heard_;
  std::size_t heard_count_ = 0;
  std::atomic<bool> heard_any_{false};
  std::thread listener_;
};

}  // namespace armci::verbs
