// NodeHeap: the free parts of node memory. One per machine, its state in node memory, used by all its processes.
//
// The heap hands out page-aligned blocks of one long range of addresses. The heap keeps only the tables. NodeMemory
// commits pages and gives them back; a full file system is then an error and not a SIGBUS (MEM-8). Free extents are
// kept sorted by offset; neighbours of the same state are merged. An extent is `committed` when its pages are still
// allocated in the file: such pages are reused first, which saves the kernel zeroing them again.
//
// Invariants: extents are disjoint, sorted, page-aligned; two adjacent extents differ in `committed`;
// committed_bytes is the sum over committed extents and never exceeds the retain limit after release().
//
// Thread safety: none; the caller holds the heap lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace armci::node {

inline constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

class NodeHeap {
 public:
  struct Extent {
    std::uint64_t offset;
    std::uint64_t bytes : 63;
    std::uint64_t committed : 1;
    std::uint64_t end() const { return offset + bytes; }
  };

  // `extents` holds `capacity` entries; the range [begin, end) is free and uncommitted.
  void initialise(Extent* extents, std::uint64_t begin, std::uint64_t end, std::uint32_t capacity,
                  std::uint64_t retain_bytes);

  // Takes the first fitting run of free extents, committed ones preferred. Returns false when no run is long enough.
  bool take(Extent* extents, std::uint64_t bytes, std::uint64_t* offset);

  // Gives a block back. *punch says whether the caller must return its pages to the system because the heap already
  // retains enough. Returns false when the table of extents is full (the block is then lost to the heap).
  bool release(Extent* extents, std::uint64_t offset, std::uint64_t bytes, bool* punch);

  std::uint64_t committed_bytes() const { return committed_bytes_; }  // for tests of the limit
  std::uint32_t extent_count() const { return count_; }

 private:
  void erase(Extent* extents, std::uint32_t index);
  bool insert(Extent* extents, std::uint32_t index, const Extent& extent);
  void carve(Extent* extents, std::uint32_t first, std::uint64_t bytes);
  bool find_run(const Extent* extents, std::uint64_t bytes, bool committed_only, std::uint32_t* first) const;

  std::uint32_t count_;
  std::uint32_t capacity_;
  std::uint64_t committed_bytes_;
  std::uint64_t retain_bytes_;
};

}  // namespace armci::node
