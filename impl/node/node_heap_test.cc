#include "impl/node/node_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace armci::node {
namespace {

constexpr std::uint64_t kPage = kPageBytes;
constexpr std::uint64_t kBegin = 16 * kPage;

class NodeHeapTest : public ::testing::Test {
 protected:
  void start(std::uint64_t pages, std::uint64_t retain_pages, std::uint32_t capacity = 1000) {
    extents_.assign(capacity, NodeHeap::Extent{});
    heap_.initialise(extents_.data(), kBegin, kBegin + pages * kPage, capacity, retain_pages * kPage);
  }
  // The page that was taken, or -1.
  std::int64_t take(std::uint64_t pages) {
    std::uint64_t offset = 0;
    if (!heap_.take(extents_.data(), pages * kPage, &offset)) return -1;
    EXPECT_EQ(offset % kPage, 0u);
    return static_cast<std::int64_t>((offset - kBegin) / kPage);
  }
  // Whether the pages are to be given back to the system.
  bool release(std::int64_t page, std::uint64_t pages) {
    bool punch = false;
    EXPECT_TRUE(
        heap_.release(extents_.data(), kBegin + static_cast<std::uint64_t>(page) * kPage, pages * kPage, &punch));
    return punch;
  }

  NodeHeap heap_;
  std::vector<NodeHeap::Extent> extents_;
};

TEST_F(NodeHeapTest, HandsOutTheWholeRangeAndNoMore) {
  start(10, 0);
  EXPECT_EQ(take(4), 0);
  EXPECT_EQ(take(6), 4);
  EXPECT_EQ(take(1), -1);
}

TEST_F(NodeHeapTest, WhatDoesNotFitChangesNothing) {
  start(10, 0);
  EXPECT_EQ(take(11), -1);
  EXPECT_EQ(take(10), 0);
}

TEST_F(NodeHeapTest, NeighboursJoinInWhateverOrderTheyComeBack) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    start(8, 0);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(take(2), 2 * i);
    for (int i : order) release(2 * i, 2);
    EXPECT_EQ(heap_.extent_count(), 1u);
    EXPECT_EQ(take(8), 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(NodeHeapTest, RetainedPagesAreUsedFirst) {
  start(10, 2);
  ASSERT_EQ(take(2), 0);
  ASSERT_EQ(take(2), 2);
  ASSERT_EQ(take(2), 4);
  EXPECT_FALSE(release(4, 2));
  EXPECT_TRUE(release(0, 2));  // the heap retains enough
  EXPECT_EQ(take(2), 4);
  EXPECT_EQ(take(2), 0);
}

TEST_F(NodeHeapTest, ARunMayConsistOfRetainedAndOtherPages) {
  start(6, 2);
  ASSERT_EQ(take(2), 0);
  ASSERT_EQ(take(4), 2);
  release(0, 2);
  release(2, 4);
  EXPECT_EQ(heap_.extent_count(), 2u);
  EXPECT_EQ(take(6), 0);
  EXPECT_EQ(heap_.committed_bytes(), 0u);
}

TEST_F(NodeHeapTest, ItRetainsUpToItsLimit) {
  start(10, 3);
  ASSERT_EQ(take(10), 0);
  EXPECT_FALSE(release(0, 2));
  EXPECT_TRUE(release(4, 2));
  EXPECT_FALSE(release(7, 1));
  EXPECT_EQ(heap_.committed_bytes(), 3 * kPage);
}

TEST_F(NodeHeapTest, ABlockThatIsLostToAFullTableIsGivenBackToTheSystem) {
  start(10, 10, 2);
  ASSERT_EQ(take(9), 0);  // one free extent: page 9
  EXPECT_FALSE(release(1, 1));
  bool punch = false;
  EXPECT_FALSE(heap_.release(extents_.data(), kBegin + 4 * kPage, kPage, &punch));
  EXPECT_TRUE(punch);
  EXPECT_EQ(heap_.committed_bytes(), kPage);
}

TEST_F(NodeHeapTest, AFullTableStillJoinsNeighbours) {
  start(10, 0, 2);
  ASSERT_EQ(take(9), 0);
  release(1, 1);
  release(2, 1);
  release(8, 1);
  EXPECT_EQ(heap_.extent_count(), 2u);
}

// Random use against a map of pages: blocks never overlap, a block that would fit is found, the books agree.
TEST_F(NodeHeapTest, RandomUseAgreesWithAMapOfPages) {
  enum class Page { kFree, kFreeCommitted, kTaken };
  constexpr std::size_t kPages = 200;
  std::mt19937 random(20275);
  for (int program = 0; program < 30; ++program) {
    const std::uint64_t retain = random() % 60;
    start(kPages, retain);
    std::vector<Page> pages(kPages, Page::kFree);
    std::map<std::int64_t, std::uint64_t> taken;
    const auto longest_run = [&](bool committed_only) {
      std::uint64_t longest = 0;
      std::uint64_t run = 0;
      for (Page page : pages) {
        run = page == Page::kFreeCommitted || (!committed_only && page == Page::kFree) ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      return longest;
    };
    for (int step = 0; step < 400; ++step) {
      if (random() % 2 == 0 || taken.empty()) {
        const std::uint64_t wanted = 1 + random() % 30;
        const bool fits_committed = wanted <= longest_run(true);
        const bool fits = wanted <= longest_run(false);
        const std::int64_t first = take(wanted);
        ASSERT_EQ(first >= 0, fits) << "program " << program << " step " << step;
        if (first < 0) continue;
        for (std::uint64_t i = 0; i < wanted; ++i) {
          Page& page = pages[static_cast<std::size_t>(first) + i];
          ASSERT_NE(page, Page::kTaken) << "program " << program << " step " << step;
          ASSERT_TRUE(!fits_committed || page == Page::kFreeCommitted);
          page = Page::kTaken;
        }
        taken[first] = wanted;
      } else {
        const auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
        const bool punch = release(victim->first, victim->second);
        for (std::uint64_t i = 0; i < victim->second; ++i) {
          pages[static_cast<std::size_t>(victim->first) + i] = punch ? Page::kFree : Page::kFreeCommitted;
        }
        taken.erase(victim);
      }
      const auto committed = static_cast<std::uint64_t>(std::count(pages.begin(), pages.end(), Page::kFreeCommitted));
      ASSERT_EQ(heap_.committed_bytes(), committed * kPage);
      ASSERT_LE(committed, retain);
      std::uint32_t extents = 0;
      for (std::size_t i = 0; i < kPages; ++i) {
        extents += pages[i] != Page::kTaken && (i == 0 || pages[i - 1] != pages[i]);
      }
      ASSERT_EQ(heap_.extent_count(), extents) << "program " << program << " step " << step;
    }
  }
}

}  // namespace
}  // namespace armci::node
