#include "impl/mpi-rma/overlap.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace armci::rma {
namespace {

// From this many addresses on, sorting by digits is faster than by comparisons.
constexpr std::size_t kManyAddresses = 1000;
// As many as this are sorted without asking for memory.
constexpr std::size_t kFewAddresses = 128;

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Whether the addresses rise, and segments at them are disjoint; `at` maps an index to an address. The distance from
// the last address to the first goes around the end of the address space, as unsigned numbers do.
template <typename At>
bool rise_apart(std::size_t count, std::size_t bytes, At at) {
  for (std::size_t i = 1; i < count; ++i) {
    if (at(i) < at(i - 1) || at(i) - at(i - 1) < bytes) return false;
  }
  return at(0) - at(count - 1) >= bytes;
}

// Least significant digit first, no further than the highest bit in which the addresses differ. `other` has room for as
// many; the sorted ones are in the array returned.
std::uintptr_t* sort_by_digits(std::uintptr_t* values, std::uintptr_t* other, std::size_t count) {
  constexpr int kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const auto [low, high] = std::minmax_element(values, values + count);
  const std::uintptr_t least = *low;
  const std::uintptr_t span = *high - least;
  for (int shift = 0; shift < std::numeric_limits<std::uintptr_t>::digits && span >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](std::uintptr_t value) { return (value - least) >> shift & (kDigits - 1); };
    std::size_t next[kDigits] = {};
    for (std::size_t i = 0; i < count; ++i) ++next[digit(values[i])];
    std::size_t begin = 0;
    for (std::size_t& n : next) begin += std::exchange(n, begin);
    for (std::size_t i = 0; i < count; ++i) other[next[digit(values[i])]++] = values[i];
    std::swap(values, other);
  }
  return values;
}

// As rise_apart, of addresses in any order, which are left in some order. `other` has room for as many if they are
// many.
bool lie_apart(std::uintptr_t* values, std::uintptr_t* other, std::size_t count, std::size_t bytes) {
  if (count < kManyAddresses) {
    std::sort(values, values + count);
  } else {
    values = sort_by_digits(values, other, count);
  }
  return rise_apart(count, bytes, [&](std::size_t i) { return values[i]; });
}

}  // namespace

bool segments_overlap(void* const* bases, std::size_t count, std::size_t bytes) {
  if (count < 2 || bytes == 0) return false;
  if (rise_apart(count, bytes, [&](std::size_t i) { return address(bases[i]); })) return false;
  if (rise_apart(count, bytes, [&](std::size_t i) { return address(bases[count - 1 - i]); })) return false;
  if (count <= kFewAddresses) {
    std::uintptr_t values[kFewAddresses];
    std::transform(bases, bases + count, values, address);
    return !lie_apart(values, nullptr, count, bytes);
  }
  std::vector<std::uintptr_t> values(count < kManyAddresses ? count : 2 * count);
  std::transform(bases, bases + count, values.begin(), address);
  return !lie_apart(values.data(), values.data() + count, count, bytes);
}

}  // namespace armci::rma
