// Whether a range of addresses still is the memory that it was: after munmap, mremap, madvise or a new mapping in the
// same place the pages that a device knows are no longer those of the program.
//
// The kernel is asked, by userfaultfd: a range is marked when it is watched; what is mapped anew bears no mark, which
// unchanged() sees, however it came about (free, munmap, brk, mmap over it). What is unmapped, given back without that
// (MADV_DONTNEED, MADV_FREE), or moved, is told as well before the call that does it returns, as mremap may grow marked
// memory into its place; a thread listens. The mark alone covers the moment before that is heard. Only private
// anonymous memory can be watched: pages of files, and of shared memory, change by other ways too. Nothing is hooked,
// and faults are never handled here.
//
// After fork the child's memory bears no marks; the parent keeps its pages (Linux 5.12 and later).
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

  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

class MemoryWatch {
 public:
  ~MemoryWatch();

  // False: the kernel does not offer it, or not to us.
  bool start();

  // Whole pages. False: it cannot be watched. Whatever else is known of a part of the range has to be checked before.
  bool watch(const Range& range);
  // Whether all of a range that was watched still is one piece of the same memory, as far as its mark tells.
  bool unchanged(const Range& range) const;
  // Calls gone(range) for what the thread has heard of since the last time: all of which a call of munmap,
  // madvise or mremap has returned before. Ranges may be larger than what has changed.
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
  // Held for a few instructions only, never for what allocates or frees: that may be what waits for the listener.
  std::mutex mutex_;
  std::array<Range, kHeardMax> heard_;
  std::size_t heard_count_ = 0;
  std::atomic<bool> heard_any_{false};
  std::thread listener_;
};

}  // namespace armci::verbs
