#include "impl/race/record.h"

#include <algorithm>

namespace armci::race {

// Goes through the pieces of the footprint that has fewer, and computes which piece of the other may meet each.
bool overlap(const Footprint& one, const Footprint& other, std::uint64_t* byte) {
  if (one.count > other.count) return overlap(other, one, byte);
  for (std::uint64_t i = 0; i < one.count; ++i) {
    const std::uint64_t begin = one.begin + i * one.stride;
    const std::uint64_t end = begin + one.bytes;
    if (end <= other.begin || begin >= other.end()) continue;
    // The last piece of the other that begins before our end; pieces before it end earlier.
    std::uint64_t last = 0;
    if (other.count > 1) last = std::min((end - 1 - other.begin) / other.stride, other.count - 1);
    const std::uint64_t at = other.begin + last * other.stride;
    if (at + other.bytes <= begin) continue;
    *byte = std::max(begin, at);
    return true;
  }
  return false;
}

}  // namespace armci::race
