// Segment check: one pass over the pointers of a vector descriptor. The pass reports three facts: whether all segments
// lie in one part of a region, whether a local pointer is NULL, and the alignment of the remote pointers. The pass is
// vectorised: for a vector of small segments the check must cost no more than a few of the copies.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace armci::runtime {

struct SegmentCheck {
  bool inside;                 // every remote segment lies in [base, base + last_max + bytes of a segment)
  bool local_null;             // some local pointer is NULL
  std::uintptr_t remote_bits;  // the remote pointers, or-ed
  std::uintptr_t local_bits;   // the local pointers, or-ed
};

// `last_max`: the largest offset from `base` at which a segment may begin.
SegmentCheck check_segments(const void* const* remote, const void* const* local, std::size_t count, const void* base,
                            std::size_t last_max) noexcept;

}  // namespace armci::runtime
