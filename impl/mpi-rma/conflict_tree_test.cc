#include "impl/mpi-rma/conflict_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace armci::rma {

void PrintTo(const Conflict& conflict, std::ostream* out) { *out << conflict.earlier << " with " << conflict.later; }

namespace {

constexpr std::uintptr_t kLastAddress = std::numeric_limits<std::uintptr_t>::max();

struct Piece {
  std::uintptr_t base;
  std::size_t bytes;
};

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// Distances from one base up to the other, around the end of the address space.
bool share_a_byte(const Piece& a, const Piece& b) {
  return a.bytes != 0 && b.bytes != 0 && (b.base - a.base < a.bytes || a.base - b.base < b.bytes);
}

// The first conflict by comparing everything with everything; refused pieces are in nobody's way.
class Model {
 public:
  std::optional<Conflict> insert(const Piece& piece) {
    std::optional<Conflict> conflict;
    for (std::size_t i = 0; i < pieces_.size() && !conflict; ++i) {
      if (share_a_byte(pieces_[i], piece)) conflict = Conflict{i, pieces_.size()};
    }
    pieces_.push_back(conflict ? Piece{piece.base, 0} : piece);
    return conflict;
  }

 private:
  std::vector<Piece> pieces_;
};

// Inserts every piece, refused or not, and compares every answer with the model.
void compare(const std::vector<Piece>& pieces) {
  ConflictTree tree;
  Model model;
  for (const Piece& piece : pieces) {
    Conflict conflict{kLastAddress, kLastAddress};
    const std::optional<Conflict> expected = model.insert(piece);
    ASSERT_EQ(tree.insert(pointer(piece.base), piece.bytes, &conflict), !expected.has_value());
    if (expected) {
      ASSERT_EQ(conflict, *expected);
    }
  }
}

std::optional<Conflict> by_model(const std::vector<void*>& bases, std::size_t bytes) {
  Model model;
  for (void* base : bases) {
    if (auto conflict = model.insert({reinterpret_cast<std::uintptr_t>(base), bytes})) return conflict;
  }
  return std::nullopt;
}

// `count` disjoint places in every order that a worst case is known for.
struct Order {
  const char* name;
  std::function<std::size_t(std::size_t index, std::size_t count)> place;
};
const Order kOrders[] = {
    {"sorted", [](std::size_t i, std::size_t) { return i; }},
    {"reverse", [](std::size_t i, std::size_t n) { return n - 1 - i; }},
    {"alternating", [](std::size_t i, std::size_t n) { return 2 * i < n ? 2 * i : 2 * (i - (n + 1) / 2) + 1; }},
    {"from both ends", [](std::size_t i, std::size_t n) { return i % 2 == 0 ? i / 2 : n - 1 - i / 2; }},
    {"from the middle", [](std::size_t i, std::size_t n) { return i % 2 == 0 ? n / 2 + i / 2 : n / 2 - 1 - i / 2; }},
    {"random", nullptr},
};

std::vector<void*> places(const Order& order, std::size_t count, std::size_t gap) {
  std::vector<void*> bases(count);
  for (std::size_t i = 0; i < count; ++i) {
    bases[i] = pointer(0x10000 + gap * (order.place != nullptr ? order.place(i, count) : i));
  }
  if (order.place == nullptr) std::shuffle(bases.begin(), bases.end(), std::mt19937(7));
  return bases;
}

TEST(ConflictTreeTest, SegmentsThatTouchDoNotConflict) {
  ConflictTree tree;
  EXPECT_TRUE(tree.insert(pointer(100), 10));
  EXPECT_TRUE(tree.insert(pointer(110), 10));
  EXPECT_TRUE(tree.insert(pointer(90), 10));
  EXPECT_EQ(tree.extents(), 1u);
}

TEST(ConflictTreeTest, OneSharedByteIsAConflict) {
  ConflictTree tree;
  Conflict conflict{};
  EXPECT_TRUE(tree.insert(pointer(100), 10));
  EXPECT_FALSE(tree.insert(pointer(109), 10, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 1}));
  EXPECT_FALSE(tree.insert(pointer(91), 10, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 2}));
}

TEST(ConflictTreeTest, NamesTheSegmentWithinAnExtent) {
  ConflictTree tree;
  for (std::uintptr_t i = 0; i < 10; ++i) EXPECT_TRUE(tree.insert(pointer(100 + 10 * i), 10));
  EXPECT_EQ(tree.extents(), 1u);
  Conflict conflict{};
  EXPECT_FALSE(tree.insert(pointer(145), 1, &conflict));
  EXPECT_EQ(conflict, (Conflict{4, 10}));
}

TEST(ConflictTreeTest, SegmentsOfNoBytesConflictWithNothing) {
  ConflictTree tree;
  EXPECT_TRUE(tree.insert(pointer(100), 10));
  EXPECT_TRUE(tree.insert(pointer(105), 0));
  EXPECT_TRUE(tree.insert(nullptr, 0));
  Conflict conflict{};
  EXPECT_FALSE(tree.insert(pointer(105), 1, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 3}));
}

TEST(ConflictTreeTest, ReachesTheLastAddress) {
  ConflictTree tree;
  EXPECT_TRUE(tree.insert(pointer(kLastAddress - 9), 10));
  EXPECT_TRUE(tree.insert(pointer(0), 10));
  EXPECT_TRUE(tree.insert(pointer(kLastAddress - 19), 10));
  EXPECT_FALSE(tree.insert(pointer(kLastAddress), 1));
}

TEST(ConflictTreeTest, ContinuesAtAddressZero) {
  ConflictTree tree;
  Conflict conflict{};
  EXPECT_TRUE(tree.insert(pointer(kLastAddress - 9), 20));
  EXPECT_FALSE(tree.insert(pointer(9), 1, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 1}));
  EXPECT_TRUE(tree.insert(pointer(10), 1));
  EXPECT_FALSE(tree.insert(pointer(kLastAddress - 99), 200, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 3}));
  EXPECT_TRUE(tree.insert(pointer(11), kLastAddress - 20));
}

TEST(ConflictTreeTest, WhatIsRefusedIsNotAdded) {
  ConflictTree tree;
  EXPECT_TRUE(tree.insert(pointer(0), 10));
  EXPECT_FALSE(tree.insert(pointer(kLastAddress - 9), 20));
  EXPECT_TRUE(tree.insert(pointer(kLastAddress - 9), 10));
}

TEST(ConflictTreeTest, IsEmptyAfterClear) {
  ConflictTree tree;
  EXPECT_TRUE(tree.insert(pointer(100), 10));
  tree.clear();
  EXPECT_EQ(tree.extents(), 0u);
  EXPECT_TRUE(tree.insert(pointer(100), 10));
  Conflict conflict{};
  EXPECT_FALSE(tree.insert(pointer(100), 10, &conflict));
  EXPECT_EQ(conflict, (Conflict{0, 1}));
}

TEST(ConflictTreeTest, AnswersAsTheModelDoes) {
  std::mt19937 random(20120521);
  for (int round = 0; round < 3000; ++round) {
    // From crowded to sparse; the origin often such that some pieces continue at address zero.
    const std::uintptr_t span = 1 + random() % (round % 3 == 0 ? 5000 : 300);
    const std::uintptr_t origin = round % 2 == 0 ? 0x1000 : kLastAddress - random() % span;
    const std::size_t bytes_max = 1 + random() % 12;
    std::vector<Piece> pieces(random() % 120);
    for (Piece& piece : pieces) piece = {origin + random() % span, random() % (bytes_max + 1)};
    compare(pieces);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(ConflictTreeTest, StaysShallowInEveryOrder) {
  for (const Order& order : kOrders) {
    for (const std::size_t count : {2, 3, 10, 1000, 100'000}) {
      ConflictTree tree;
      for (void* base : places(order, count, 100)) ASSERT_TRUE(tree.insert(base, 64)) << order.name;
      EXPECT_EQ(tree.extents(), count) << order.name;
      const double height_max = 1.4405 * std::log2(static_cast<double>(count) + 2);
      EXPECT_LE(tree.height(), height_max) << order.name << ", " << count;
      EXPECT_LE(static_cast<double>(tree.steps()), static_cast<double>(count) * height_max) << order.name;
    }
  }
}

TEST(ConflictTreeTest, SegmentsWithoutGapsNeedFewNodes) {
  for (const Order& order : kOrders) {
    ConflictTree tree;
    for (void* base : places(order, 10'000, 64)) ASSERT_TRUE(tree.insert(base, 64)) << order.name;
    // A segment that is told last between two others joins one of them.
    EXPECT_LE(tree.extents(), 5000u) << order.name;
  }
  ConflictTree tree;
  for (void* base : places(kOrders[0], 10'000, 64)) ASSERT_TRUE(tree.insert(base, 64));
  EXPECT_EQ(tree.extents(), 1u);
}

TEST(FindConflictTest, FewOrEmptySegmentsHaveNone) {
  void* const bases[] = {pointer(100), pointer(100)};
  EXPECT_EQ(find_conflict(nullptr, 0, 8), std::nullopt);
  EXPECT_EQ(find_conflict(bases, 1, 8), std::nullopt);
  EXPECT_EQ(find_conflict(bases, 2, 0), std::nullopt);
  EXPECT_EQ(find_conflict(bases, 2, 1), (Conflict{0, 1}));
}

TEST(FindConflictTest, OneSegmentMayContinueAtAddressZero) {
  std::vector<void*> bases = {pointer(kLastAddress - 9), pointer(10), pointer(30)};
  EXPECT_EQ(find_conflict(bases.data(), 3, 20), std::nullopt);
  bases[1] = pointer(9);
  EXPECT_EQ(find_conflict(bases.data(), 3, 20), (Conflict{0, 1}));
  std::swap(bases[0], bases[2]);
  EXPECT_EQ(find_conflict(bases.data(), 3, 20), (Conflict{1, 2}));
  // Rising, and the last one ends in the first.
  bases = {pointer(5), pointer(100), pointer(kLastAddress - 9)};
  EXPECT_EQ(find_conflict(bases.data(), 3, 20), (Conflict{0, 2}));
}

TEST(FindConflictTest, AnswersAsTheModelDoes) {
  std::mt19937 random(20120522);
  int conflicts = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t count = random() % 200;
    const std::size_t bytes = 1 + random() % 8;
    const std::uintptr_t span = 1 + random() % (count * count * 4 + 1);
    const std::uintptr_t origin = round % 2 == 0 ? 0x1000 : kLastAddress - random() % span;
    std::vector<void*> bases(count);
    for (void*& base : bases) base = pointer(origin + random() % span);
    if (round % 5 == 0) std::sort(bases.begin(), bases.end());
    if (round % 5 == 1) std::sort(bases.rbegin(), bases.rend());
    const std::optional<Conflict> expected = by_model(bases, bytes);
    ASSERT_EQ(find_conflict(bases.data(), count, bytes), expected) << "round " << round;
    conflicts += expected.has_value();
  }
  EXPECT_GT(conflicts, 500);
  EXPECT_LT(conflicts, 2500);
}

TEST(FindConflictTest, OneConflictAmongMany) {
  for (const Order& order : kOrders) {
    for (const std::size_t count : {128, 129, 999, 1000, 1001, 50'000}) {
      // The gap: near to each other, and over so wide a range that every digit counts.
      for (const std::size_t gap : {std::size_t{64}, std::size_t{1} << 44}) {
        std::vector<void*> bases = places(order, count, gap);
        EXPECT_EQ(find_conflict(bases.data(), count, 64), std::nullopt) << order.name << ", " << count;
        bases[count - 1] = static_cast<char*>(bases[count / 3]) + 63;
        const auto conflict = find_conflict(bases.data(), count, 64);
        ASSERT_TRUE(conflict.has_value()) << order.name << ", " << count;
        EXPECT_EQ(conflict->later, count - 1);
        EXPECT_LE(conflict->earlier, count / 3);
      }
    }
  }
}

}  // namespace
}  // namespace armci::rma
