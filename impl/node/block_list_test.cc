#include "impl/node/block_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace armci::node {
namespace {

class BlockListTest : public ::testing::Test {
 protected:
  void SetUp() override { list_.initialise(); }
  void insert(std::uint64_t offset, std::uint64_t bytes) { list_.insert(blocks_.data(), {offset, bytes}); }
  void erase(std::uint64_t offset) { list_.erase(blocks_.data(), offset); }
  // The offset of the block that holds it, or -1.
  std::int64_t at(std::uint64_t offset) const {
    const BlockList::Block* found = list_.find(blocks_.data(), offset, 1);
    return found == nullptr ? -1 : static_cast<std::int64_t>(found->offset);
  }

  BlockList list_;
  std::vector<BlockList::Block> blocks_{200};
};

TEST_F(BlockListTest, FindsFromTheFirstByteToTheLast) {
  EXPECT_EQ(at(0), -1);
  insert(40, 10);
  insert(20, 20);
  EXPECT_EQ(at(19), -1);
  EXPECT_EQ(at(20), 20);
  EXPECT_EQ(at(39), 20);
  EXPECT_EQ(at(40), 40);
  EXPECT_EQ(at(49), 40);
  EXPECT_EQ(at(50), -1);
}

TEST_F(BlockListTest, WhatIsGoneIsNotFoundAndItsNeighboursAre) {
  for (std::uint64_t offset : {10, 20, 30}) insert(offset, 10);
  erase(20);
  EXPECT_EQ(at(15), 10);
  EXPECT_EQ(at(25), -1);
  EXPECT_EQ(at(35), 30);
  erase(25);  // where nothing begins
  erase(5);
  EXPECT_EQ(list_.count(), 2u);
}

TEST_F(BlockListTest, ABlockHoldsWhatEndsWithIt) {
  const BlockList::Block block{100, 50};
  EXPECT_TRUE(block.holds(100, 50));
  EXPECT_TRUE(block.holds(149, 1));
  EXPECT_FALSE(block.holds(149, 2));
  EXPECT_FALSE(block.holds(99, 2));
  EXPECT_FALSE(block.holds(101, UINT64_MAX));
  EXPECT_FALSE(block.holds(UINT64_MAX, 1));
}

TEST_F(BlockListTest, KeepsTheSameBooksAsAMap) {
  std::mt19937 random(5);
  std::map<std::uint64_t, std::uint64_t> expected;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t offset = random() % 100 * 64;
    if (expected.erase(offset) != 0) {
      erase(offset);
    } else {
      const std::uint64_t bytes = 1 + random() % 64;
      expected[offset] = bytes;
      insert(offset, bytes);
    }
    ASSERT_EQ(list_.count(), expected.size());
    const std::uint64_t queried = random() % 6400;
    const auto next = expected.find(queried / 64 * 64);
    const bool there = next != expected.end() && queried < next->first + next->second;
    ASSERT_EQ(at(queried), there ? static_cast<std::int64_t>(next->first) : -1) << "step " << step;
  }
}

}  // namespace
}  // namespace armci::node
