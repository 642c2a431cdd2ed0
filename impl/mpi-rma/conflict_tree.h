// Whether the segments of one noncontiguous transfer are disjoint.
//
// MPI forbids one operation to write a byte twice, ARMCI does not. A vector transfer may become one operation with a
// datatype only if no two of its segments share a byte; this is the check in front of it, after the conflict tree of
// Dinan, Balaji, Hammond, Krishnamoorthy, Tipparaju: "Supporting the Global Arrays PGAS Model Using MPI One-Sided
// Communication", IPDPS 2012.
//
// ConflictTree is a height-balanced (AVL) search tree of extents. A segment that begins or ends where an extent ends or
// begins makes it longer instead of adding a node, so a transfer without gaps costs one node in whatever direction it
// is told. Segments are kept in a list besides, so that a conflict is told by segment, not by extent.
//
// Cost: N insertions are O(N log N) in the worst case, whatever their order.
//
// A segment whose end lies behind the end of the address space continues at address 0, as pointers do.
//
// Invariants: extents are disjoint and in order of address; the heights of two subtrees of a node differ by one at
// most; extents that touch are not always joined. There is room for 2^31 - 1 extents.
//
// Thread safety: none; a value of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace armci::rma {

// Two segments that share a byte, by their numbers in the order of insertion.
struct Conflict {
  std::size_t earlier;
  std::size_t later;
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

class ConflictTree {
 public:
  // Room for so many segments without further allocation.
  void reserve(std::size_t segments);

  // Adds the segment [base, base + bytes). False: it shares a byte with an earlier one; the segment is then not added,
  // and *conflict, unless NULL, tells the first segment that it collides with. Every call takes a number, also for a
  // segment of no bytes, which conflicts with nothing, and for one that is refused.
  bool insert(const void* base, std::size_t bytes, Conflict* conflict = nullptr);

  void clear();

  // What bounds the cost: nodes of the tree, the longest way down, and all nodes that insertions looked at.
  std::size_t extents() const { return nodes_.size(); }
  int height() const { return height_of(root_); }
  std::uint64_t steps() const { return steps_; }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr int kMaxHeight = 48;  // more than 1.45 log2(2^31)

  // Both ends belong to it: an end behind the last address has no number.
  struct Range {
    std::uintptr_t first;
    std::uintptr_t last;
    bool meets(const Range& other) const { return first <= other.last && other.first <= last; }
  };
  struct Node {
    Range extent;
    std::int32_t child[2];  // lower addresses, higher addresses
    std::int32_t height;
  };
  struct Segment {
    Range range;
    std::size_t number;
  };

  // Where a range belongs: the nodes on the way down and the direction taken at each, and the extents next to it.
  struct Place {
    std::int32_t path[kMaxHeight];
    bool side[kMaxHeight];
    int depth;
    std::int32_t below;
    std::int32_t above;
    bool meets;  // an extent shares a byte with it
  };
  void find(const Range& range, Place* place) const;
  void add(const Range& range, std::size_t number, const Place& place);
  bool insert_wrapped(const Range& range, std::size_t number, Conflict* conflict);
  std::size_t first_meeting(const Range& range) const;

  int height_of(std::int32_t node) const { return node == kNone ? 0 : nodes_[node].height; }
  void measure(std::int32_t node);
  std::int32_t rotate(std::int32_t node, int side);
  std::int32_t balance(std::int32_t node);

  std::vector<Node> nodes_;
  std::vector<Segment> segments_;
  std::int32_t root_ = kNone;
  std::size_t calls_ = 0;
  std::uint64_t steps_ = 0;
};

// The first conflict among `count` segments of `bytes` bytes each: the one whose later segment comes first in the list,
// with the first one that it collides with. O(count log count); O(count) and without memory of its own when the
// addresses rise or fall all along.
std::optional<Conflict> find_conflict(void* const* bases, std::size_t count, std::size_t bytes);

}  // namespace armci::rma
