// One pass over the pointers of a vector descriptor: do all segments lie in one part of a region, is one of the local
// pointers NULL, how are the remote ones aligned? Vectorised, because a vector of small segments is checked in the time
// of a few of its copies or not at all.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace armci::runtime {

struct Survey {
  bool inside;                 // every remote segment lies in [base, base + room + bytes of a segment)
  bool local_null;             // some local pointer is NULL
  std::uintptr_t remote_bits;  // the remote pointers, or-ed
  std::uintptr_t local_bits;   // the local pointers, or-ed
};

// `room`: how far behind `base` the last segment may begin.
Survey survey_pointers(const void* const* remote, const void* const* local, std::size_t count, const void* base,
                       std::size_t room) noexcept;

}  // namespace armci::runtime
