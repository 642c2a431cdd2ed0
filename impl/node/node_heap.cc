#include "impl/node/node_heap.h"

#include <cstring>

namespace armci::node {

void NodeHeap::initialise(Extent* extents, std::uint64_t begin, std::uint64_t end, std::uint32_t capacity,
                          std::uint64_t retain_bytes) {
  count_ = 1;
  capacity_ = capacity;
  committed_bytes_ = 0;
  retain_bytes_ = retain_bytes;
  extents[0] = Extent{begin, end - begin, 0};
}

void NodeHeap::erase(Extent* extents, std::uint32_t index) {
  std::memmove(extents + index, extents + index + 1, (count_ - index - 1) * sizeof(Extent));
  --count_;
}

bool NodeHeap::insert(Extent* extents, std::uint32_t index, const Extent& extent) {
  if (count_ == capacity_) return false;
  std::memmove(extents + index + 1, extents + index, (count_ - index) * sizeof(Extent));
  extents[index] = extent;
  ++count_;
  return true;
}

bool NodeHeap::find_run(const Extent* extents, std::uint64_t bytes, bool committed_only, std::uint32_t* first) const {
  std::uint64_t run = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const bool usable = !committed_only || extents[i].committed;
    const bool continues = run > 0 && extents[i - 1].end() == extents[i].offset;
    if (!usable) {
      run = 0;
      continue;
    }
    if (!continues) {
      run = 0;
      *first = i;
    }
    run += extents[i].bytes;
    if (run >= bytes) return true;
  }
  return false;
}

void NodeHeap::carve(Extent* extents, std::uint32_t first, std::uint64_t bytes) {
  while (bytes > 0) {
    Extent& extent = extents[first];
    const std::uint64_t taken = extent.bytes < bytes ? extent.bytes : bytes;
    if (extent.committed) committed_bytes_ -= taken;
    bytes -= taken;
    if (taken == extent.bytes) {
      erase(extents, first);
    } else {
      extent.offset += taken;
      extent.bytes = extent.bytes - taken;
    }
  }
}

bool NodeHeap::take(Extent* extents, std::uint64_t bytes, std::uint64_t* offset) {
  std::uint32_t first = 0;
  if (!find_run(extents, bytes, true, &first) && !find_run(extents, bytes, false, &first)) return false;
  *offset = extents[first].offset;
  carve(extents, first, bytes);
  return true;
}

bool NodeHeap::release(Extent* extents, std::uint64_t offset, std::uint64_t bytes, bool* punch) {
  const bool keep = committed_bytes_ + bytes <= retain_bytes_;
  *punch = !keep;
  std::uint32_t next = 0;
  while (next < count_ && extents[next].offset < offset) ++next;
  Extent extent{offset, bytes, keep};
  if (next > 0 && extents[next - 1].end() == offset && extents[next - 1].committed == extent.committed) {
    --next;
    extent.offset = extents[next].offset;
    extent.bytes = extent.bytes + extents[next].bytes;
    erase(extents, next);
  }
  if (next < count_ && extent.end() == extents[next].offset && extents[next].committed == extent.committed) {
    extent.bytes = extent.bytes + extents[next].bytes;
    erase(extents, next);
  }
  if (!insert(extents, next, extent)) {
    *punch = true;  // lost to the heap: let the system at least have the pages
    return false;
  }
  if (keep) committed_bytes_ += bytes;
  return true;
}

}  // namespace armci::node
