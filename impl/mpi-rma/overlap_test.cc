#include "impl/mpi-rma/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace armci::rma {
namespace {

constexpr std::uintptr_t kLastAddress = std::numeric_limits<std::uintptr_t>::max();

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

bool overlap(const std::vector<void*>& bases, std::size_t bytes) {
  return segments_overlap(bases.data(), bases.size(), bytes);
}

// Every order of these segments gives this answer.
void expect_in_every_order(bool expected, std::vector<std::uintptr_t> addresses, std::size_t bytes) {
  std::sort(addresses.begin(), addresses.end());
  do {
    std::vector<void*> bases(addresses.size());
    std::transform(addresses.begin(), addresses.end(), bases.begin(), pointer);
    EXPECT_EQ(overlap(bases, bytes), expected);
  } while (std::next_permutation(addresses.begin(), addresses.end()));
}

// Compares everything with everything; distances from one base up to the other, around the end of the address space.
bool by_model(const std::vector<void*>& bases, std::size_t bytes) {
  for (std::size_t i = 0; i < bases.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = reinterpret_cast<std::uintptr_t>(bases[i]), b = reinterpret_cast<std::uintptr_t>(bases[j]);
      if (a - b < bytes || b - a < bytes) return true;
    }
  }
  return false;
}

// `count` disjoint places in orders that sorting or scanning might get wrong.
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

TEST(SegmentsOverlapTest, FewOrEmptySegmentsDoNot) {
  EXPECT_FALSE(segments_overlap(nullptr, 0, 8));
  EXPECT_FALSE(overlap({pointer(100)}, 8));
  EXPECT_FALSE(overlap({pointer(100), pointer(100)}, 0));
  EXPECT_TRUE(overlap({pointer(100), pointer(100)}, 1));
}

TEST(SegmentsOverlapTest, SegmentsThatTouchDoNot) {
  expect_in_every_order(false, {90, 100, 110}, 10);
  expect_in_every_order(false, {100, 110, 120, 140}, 10);
}

TEST(SegmentsOverlapTest, OneSharedByteIsEnough) {
  expect_in_every_order(true, {100, 109}, 10);
  expect_in_every_order(true, {91, 100}, 10);
  expect_in_every_order(true, {90, 100, 109}, 10);
  expect_in_every_order(true, {91, 100, 110}, 10);
}

TEST(SegmentsOverlapTest, OneSegmentTwiceDoes) {
  expect_in_every_order(true, {100, 100, 200}, 1);
  expect_in_every_order(true, {100, 100}, kLastAddress);
}

TEST(SegmentsOverlapTest, SegmentsMayReachTheLastAddress) {
  expect_in_every_order(false, {kLastAddress - 19, kLastAddress - 9}, 10);
  expect_in_every_order(false, {0, kLastAddress - 9}, 10);
  expect_in_every_order(true, {kLastAddress - 9, kLastAddress}, 10);
}

TEST(SegmentsOverlapTest, OneSegmentMayContinueAtAddressZero) {
  expect_in_every_order(false, {kLastAddress - 9, 10, 30}, 20);
  expect_in_every_order(true, {kLastAddress - 9, 9, 30}, 20);
  expect_in_every_order(true, {kLastAddress - 9, 5, 100}, 20);
  expect_in_every_order(true, {kLastAddress - 9, 0}, 20);
  expect_in_every_order(true, {kLastAddress - 28, kLastAddress - 9, 30}, 20);
}

TEST(SegmentsOverlapTest, TwoSegmentsFillTheAddressSpace) {
  const std::uintptr_t half = kLastAddress / 2 + 1;
  expect_in_every_order(false, {0, half}, half);
  expect_in_every_order(false, {7, half + 7}, half);
  expect_in_every_order(true, {7, half + 7}, half + 1);
  expect_in_every_order(true, {7, half + 8}, half);
}

TEST(SegmentsOverlapTest, AnswersAsTheModelDoes) {
  std::mt19937 random(20120522);
  int overlaps = 0;
  for (int round = 0; round < 6000; ++round) {
    // From crowded to sparse; the origin often such that some segments continue at address zero.
    const std::size_t count = random() % 200;
    const std::size_t bytes = 1 + random() % 8;
    const std::uintptr_t span = 1 + random() % (count * count * 4 + 1);
    const std::uintptr_t origin = round % 2 == 0 ? 0x1000 : kLastAddress - random() % span;
    std::vector<void*> bases(count);
    for (void*& base : bases) base = pointer(origin + random() % span);
    if (round % 5 == 0) std::sort(bases.begin(), bases.end());
    if (round % 5 == 1) std::sort(bases.rbegin(), bases.rend());
    const bool expected = by_model(bases, bytes);
    ASSERT_EQ(overlap(bases, bytes), expected) << "round " << round;
    overlaps += expected;
  }
  EXPECT_GT(overlaps, 1000);
  EXPECT_LT(overlaps, 5000);
}

TEST(SegmentsOverlapTest, DenseSegmentsInEveryOrderDoNot) {
  for (const Order& order : kOrders) {
    for (const std::size_t count : {2, 3, 10, 1000, 100'000}) {
      EXPECT_FALSE(overlap(places(order, count, 64), 64)) << order.name << ", " << count;
      EXPECT_TRUE(overlap(places(order, count, 64), 65)) << order.name << ", " << count;
    }
  }
}

TEST(SegmentsOverlapTest, OneOverlapAmongMany) {
  for (const Order& order : kOrders) {
    for (const std::size_t count : {128, 129, 999, 1000, 1001, 50'000}) {
      // The gap: near to each other, and over so wide a range that every digit counts.
      for (const std::size_t gap : {std::size_t{64}, std::size_t{1} << 44}) {
        std::vector<void*> bases = places(order, count, gap);
        EXPECT_FALSE(overlap(bases, 64)) << order.name << ", " << count;
        bases[count - 1] = static_cast<char*>(bases[count / 3]) + 63;
        EXPECT_TRUE(overlap(bases, 64)) << order.name << ", " << count;
      }
    }
  }
}

TEST(SegmentsOverlapTest, ManySegmentsMayContinueAtAddressZero) {
  for (const std::size_t count : {128, 129, 1000, 5000}) {
    std::vector<void*> bases;
    for (std::size_t i = 0; i < count; ++i) bases.push_back(pointer(kLastAddress - 64 * (count / 2) + 64 * i));
    std::shuffle(bases.begin(), bases.end(), std::mt19937(7));
    EXPECT_FALSE(overlap(bases, 64)) << count;
    EXPECT_TRUE(overlap(bases, 65)) << count;
  }
}

}  // namespace
}  // namespace armci::rma
