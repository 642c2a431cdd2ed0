#include "impl/mpi-rma/conflict_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace armci::rma {
namespace {

constexpr std::uintptr_t kLastAddress = std::numeric_limits<std::uintptr_t>::max();

// From this many addresses on, sorting by digits is faster than by comparisons.
constexpr std::size_t kManyAddresses = 1000;
// As many as this are sorted without asking for memory.
constexpr std::size_t kFewAddresses = 128;

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// All addresses rise by `bytes` or more from each to the next, or all fall.
bool runs_one_way(void* const* bases, std::size_t count, std::size_t bytes) {
  const auto is_run = [&](int from, int to) {
    for (std::size_t i = 1; i < count; ++i) {
      const std::uintptr_t low = address(bases[i - from]);
      const std::uintptr_t high = address(bases[i - to]);
      if (high < low || high - low < bytes) return false;
    }
    return true;
  };
  return is_run(1, 0) || is_run(0, 1);
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

// Whether segments at these addresses, which are left in some order, are disjoint. False also when one reaches beyond
// the last address, where order says nothing.
bool disjoint(std::uintptr_t* values, std::uintptr_t* other, std::size_t count, std::size_t bytes) {
  if (count < kManyAddresses) {
    std::sort(values, values + count);
  } else {
    values = sort_by_digits(values, other, count);
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (values[i] - values[i - 1] < bytes) return false;
  }
  return kLastAddress - values[count - 1] >= bytes - 1;
}

bool disjoint(void* const* bases, std::size_t count, std::size_t bytes) {
  const auto fill = [&](std::uintptr_t* values) { std::transform(bases, bases + count, values, address); };
  if (count <= kFewAddresses) {
    std::uintptr_t values[kFewAddresses];
    fill(values);
    return disjoint(values, nullptr, count, bytes);
  }
  std::vector<std::uintptr_t> values(count < kManyAddresses ? count : 2 * count);
  fill(values.data());
  return disjoint(values.data(), values.data() + count, count, bytes);
}

}  // namespace

void ConflictTree::reserve(std::size_t segments) {
  nodes_.reserve(segments);
  segments_.reserve(segments);
}

void ConflictTree::clear() {
  nodes_.clear();
  segments_.clear();
  root_ = kNone;
  calls_ = 0;
  steps_ = 0;
}

// Looks for the place of range.first only, and at the whole range once the neighbours are known: which way to go is
// then data and no branch, and branches that cannot be predicted would cost more than the memory accesses.
void ConflictTree::find(const Range& range, Place* place) const {
  std::int32_t neighbour[2] = {kNone, kNone};  // the next extent above and below
  int depth = 0;
  for (std::int32_t at = root_; at != kNone; ++depth) {
    const Node& node = nodes_[at];
    const bool higher = range.first >= node.extent.first;
    place->path[depth] = at;
    place->side[depth] = higher;
    neighbour[higher] = at;
    at = node.child[higher];
  }
  place->depth = depth;
  place->above = neighbour[0];
  place->below = neighbour[1];
  place->meets = (place->below != kNone && nodes_[place->below].extent.meets(range)) ||
                 (place->above != kNone && nodes_[place->above].extent.meets(range));
}

std::size_t ConflictTree::first_meeting(const Range& range) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const Segment& segment) { return segment.range.meets(range); });
  return found->number;
}

void ConflictTree::measure(std::int32_t node) {
  Node& n = nodes_[node];
  n.height = 1 + std::max(height_of(n.child[0]), height_of(n.child[1]));
}

// The child on `side` takes the node's place, and the node becomes its child on the other side.
std::int32_t ConflictTree::rotate(std::int32_t node, int side) {
  const std::int32_t up = nodes_[node].child[side];
  nodes_[node].child[side] = nodes_[up].child[1 - side];
  nodes_[up].child[1 - side] = node;
  measure(node);
  measure(up);
  return up;
}

std::int32_t ConflictTree::balance(std::int32_t node) {
  const int lean = height_of(nodes_[node].child[1]) - height_of(nodes_[node].child[0]);
  if (lean >= -1 && lean <= 1) {
    measure(node);
    return node;
  }
  const int side = lean > 0;
  const std::int32_t heavy = nodes_[node].child[side];
  if (height_of(nodes_[heavy].child[1 - side]) > height_of(nodes_[heavy].child[side])) {
    nodes_[node].child[side] = rotate(heavy, 1 - side);
  }
  return rotate(node, side);
}

void ConflictTree::add(const Range& range, std::size_t number, const Place& place) {
  segments_.push_back({range, number});
  if (place.below != kNone && nodes_[place.below].extent.last + 1 == range.first) {
    nodes_[place.below].extent.last = range.last;
    return;
  }
  if (place.above != kNone && range.last + 1 == nodes_[place.above].extent.first) {
    nodes_[place.above].extent.first = range.first;
    return;
  }
  std::int32_t subtree = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({range, {kNone, kNone}, 1});
  // A subtree that is as high as before leaves everything above it as it is.
  for (int depth = place.depth; depth-- > 0;) {
    const std::int32_t parent = place.path[depth];
    nodes_[parent].child[place.side[depth]] = subtree;
    const int height = nodes_[parent].height;
    subtree = balance(parent);
    if (subtree == parent && nodes_[parent].height == height) return;
  }
  root_ = subtree;
}

bool ConflictTree::insert(const void* base, std::size_t bytes, Conflict* conflict) {
  const std::size_t number = calls_++;
  if (bytes == 0) return true;
  const std::uintptr_t first = address(base);
  const Range range{first, first + (bytes - 1)};
  if (range.last < range.first) [[unlikely]]
    return insert_wrapped(range, number, conflict);
  Place place;
  find(range, &place);
  steps_ += place.depth;
  if (place.meets) {
    if (conflict != nullptr) *conflict = {first_meeting(range), number};
    return false;
  }
  add(range, number, place);
  return true;
}

// The part up to the last address and the part from the first are one segment: both are added or none.
bool ConflictTree::insert_wrapped(const Range& range, std::size_t number, Conflict* conflict) {
  const Range parts[2] = {{range.first, kLastAddress}, {0, range.last}};
  std::size_t earlier = number;
  for (const Range& part : parts) {
    Place place;
    find(part, &place);
    if (place.meets) earlier = std::min(earlier, first_meeting(part));
  }
  if (earlier != number) {
    if (conflict != nullptr) *conflict = {earlier, number};
    return false;
  }
  for (const Range& part : parts) {
    Place place;
    find(part, &place);
    add(part, number, place);
  }
  return true;
}

// Sorting is several times faster than the tree, and only the tree knows which conflict is the first: most transfers
// have none.
std::optional<Conflict> find_conflict(void* const* bases, std::size_t count, std::size_t bytes) {
  if (count < 2 || bytes == 0) return std::nullopt;
  const bool wraps = kLastAddress - std::max(address(bases[0]), address(bases[count - 1])) < bytes - 1;
  if (!wraps && runs_one_way(bases, count, bytes)) return std::nullopt;
  if (disjoint(bases, count, bytes)) return std::nullopt;
  ConflictTree tree;
  Conflict conflict;
  for (std::size_t i = 0; i < count; ++i) {
    if (!tree.insert(bases[i], bytes, &conflict)) return conflict;
  }
  return std::nullopt;
}

}  // namespace armci::rma
