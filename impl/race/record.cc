#include "impl/race/record.h"

#include <algorithm>

namespace armci::race {

namespace {

std::int64_t floor_of(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

// With one stride. Piece i of the one meets piece j of the other for certain differences i - j.
bool overlap_of_equal_strides(const Footprint& one, const Footprint& other, std::uint64_t* byte) {
  const auto stride = static_cast<std::int64_t>(one.stride);
  const auto apart = static_cast<std::int64_t>(other.begin - one.begin);
  const std::int64_t least = std::max(floor_of(apart - static_cast<std::int64_t>(one.bytes), stride) + 1,
                                      1 - static_cast<std::int64_t>(other.count));
  if (least >= static_cast<std::int64_t>(one.count) || least * stride >= apart + static_cast<std::int64_t>(other.bytes))
    return false;
  const auto i = static_cast<std::uint64_t>(std::max<std::int64_t>(least, 0));
  const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(i) - least);
  *byte = std::max(one.begin + i * one.stride, other.begin + j * other.stride);
  return true;
}

}  // namespace

// Goes through the pieces of the footprint that has fewer, and computes which piece of the other may meet each.
bool overlap(const Footprint& one, const Footprint& other, std::uint64_t* byte) {
  if (one.count > 1 && other.count > 1 && one.stride == other.stride) return overlap_of_equal_strides(one, other, byte);
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
