#include "impl/runtime/region_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace armci::runtime {
namespace {

struct Key {
  int value = 0;
};
using Table = RegionTable<Key>;
using RegionType = Table::RegionType;

// Addresses are only compared, never used.
char* address(std::uintptr_t value) { return reinterpret_cast<char*>(value); }

RegionType* add(Table& table, std::int64_t id, const std::vector<std::pair<std::uintptr_t, std::size_t>>& parts) {
  auto region = std::make_unique<RegionType>();
  region->id = id;
  for (std::size_t proc = 0; proc < parts.size(); ++proc) {
    region->parts.push_back({static_cast<int>(proc), address(parts[proc].first), parts[proc].second, Key{}});
  }
  return table.insert(std::move(region));
}

TEST(RegionTableTest, FindsEveryRangeInsideAPartAndNoOther) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 100}});
  for (int from = -3; from < 104; ++from) {
    for (std::size_t bytes = 1; bytes < 104; ++bytes) {
      const bool inside = from >= 0 && from + static_cast<int>(bytes) <= 100;
      EXPECT_EQ(table.find(0, address(0x10000) + from, bytes) != nullptr, inside) << from << " " << bytes;
    }
  }
}

TEST(RegionTableTest, LengthsThatWrapAroundAreOutside) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 100}});
  ASSERT_NE(table.find(0, address(0x10000), 1), nullptr);
  for (std::size_t bytes : {SIZE_MAX, SIZE_MAX - 0x10000 + 1, std::size_t{1} << 63}) {
    EXPECT_EQ(table.find(0, address(0x10000), bytes), nullptr) << bytes;
    EXPECT_EQ(table.find(0, address(0x10000 + 99), bytes), nullptr) << bytes;
  }
}

TEST(RegionTableTest, EqualAddressesOfDifferentProcessesAreDifferentParts) {
  Table table;
  table.initialise(2);
  RegionType* region = add(table, 1, {{0x10000, 64}, {0x10000, 128}});
  EXPECT_EQ(table.find(0, address(0x10000), 64), &region->parts[0]);
  EXPECT_EQ(table.find(1, address(0x10000), 64), &region->parts[1]);
  EXPECT_EQ(table.find(0, address(0x10000), 128), nullptr);
}

TEST(RegionTableTest, APartKnowsItsRegion) {
  Table table;
  table.initialise(1);
  RegionType* region = add(table, 1, {{0x10000, 64}});
  EXPECT_EQ(table.find(0, address(0x10001), 1)->region, region);
}

TEST(RegionTableTest, AnEmptyPartIsNowhere) {
  Table table;
  table.initialise(2);
  add(table, 1, {{0, 0}, {0x10000, 8}});
  EXPECT_EQ(table.find(0, nullptr, 1), nullptr);
  EXPECT_EQ(table.find(0, address(0x10000), 1), nullptr);
}

TEST(RegionTableTest, ARemovedRegionIsNotFoundAgain) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 64}});
  ASSERT_NE(table.find(0, address(0x10000), 1), nullptr);  // now in the cache
  EXPECT_NE(table.remove(1), nullptr);
  EXPECT_EQ(table.find(0, address(0x10000), 1), nullptr);
  EXPECT_EQ(table.find_recent(0, address(0x10000), 1), nullptr);
}

TEST(RegionTableTest, TheNextRegionAtTheSamePlaceIsTheOneFound) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 64}});
  ASSERT_NE(table.find(0, address(0x10000), 1), nullptr);
  const std::unique_ptr<RegionType> gone = table.remove(1);
  RegionType* next = add(table, 2, {{0x10000, 32}});
  EXPECT_EQ(table.find(0, address(0x10000), 1), &next->parts[0]);
  EXPECT_EQ(table.find(0, address(0x10000), 64), nullptr);
}

TEST(RegionTableTest, RemovingTwiceGivesNothing) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 64}});
  EXPECT_NE(table.remove(1), nullptr);
  EXPECT_EQ(table.remove(1), nullptr);
}

TEST(RegionTableTest, TwoTablesDoNotShareTheirFinds) {
  Table one;
  Table other;
  one.initialise(1);
  other.initialise(1);
  add(one, 1, {{0x10000, 64}});
  ASSERT_NE(one.find(0, address(0x10000), 1), nullptr);
  EXPECT_EQ(other.find(0, address(0x10000), 1), nullptr);
}

TEST(RegionTableTest, ATableInitialisedAgainIsEmpty) {
  Table table;
  table.initialise(1);
  add(table, 1, {{0x10000, 64}});
  ASSERT_NE(table.find(0, address(0x10000), 1), nullptr);
  table.initialise(1);
  EXPECT_EQ(table.find(0, address(0x10000), 1), nullptr);
}

// A recent find is proof that the process exists [ERR-1]: no other number may pass for it, with any bits, at any
// generation of the table.
TEST(RegionTableTest, NoOtherProcessNumberHitsARecentFind) {
  Table table;
  table.initialise(2);
  for (std::int64_t id = 1; id <= 600; ++id) {
    table.remove(id - 1);
    add(table, id, {{0x10000, 64}, {0x10000, 64}});
    ASSERT_NE(table.find(1, address(0x10000), 1), nullptr);
    ASSERT_NE(table.find_recent(1, address(0x10000), 1), nullptr);
    for (int bit = 1; bit < 32; ++bit) {
      const auto flipped = static_cast<int>(1u ^ (1u << bit));
      EXPECT_EQ(table.find_recent(flipped, address(0x10000), 1), nullptr) << flipped;
      const auto negative = static_cast<int>(1u | (0xffffffffu << bit));
      EXPECT_EQ(table.find_recent(negative, address(0x10000), 1), nullptr) << negative;
    }
  }
}

TEST(RegionTableTest, NullIsNeverRecent) {
  Table table;
  table.initialise(1);
  EXPECT_EQ(table.find_recent(0, nullptr, 0), nullptr);
  EXPECT_EQ(table.find_recent(0, nullptr, 1), nullptr);
  EXPECT_EQ(table.find_recent(-1, nullptr, 0), nullptr);
}

TEST(RegionTableTest, OnlyABaseIsABase) {
  Table table;
  table.initialise(1);
  RegionType* region = add(table, 1, {{0x10000, 64}});
  EXPECT_EQ(table.find_base(0, address(0x10000)), region);
  EXPECT_EQ(table.find_base(0, address(0x10001)), nullptr);
}

TEST(RegionTableTest, CountsAndListsRegions) {
  Table table;
  table.initialise(2);
  add(table, 5, {{0x10000, 64}, {0x20000, 100}});
  add(table, 3, {{0x30000, 1}, {0, 0}});
  EXPECT_EQ(table.ids(), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(table.count(), 2u);
  const auto gone = table.remove(5);
  EXPECT_EQ(table.count(), 1u);
  EXPECT_EQ(table.ids(), (std::vector<std::int64_t>{3}));
}

// Random insertion, removal and lookup against a list that is searched from end to end.
TEST(RegionTableTest, RandomLookupsAgreeWithAModel) {
  constexpr int kProcs = 3;
  constexpr std::uintptr_t kSlotBytes = 0x1000;  // regions lie in slots of their own, so that they never overlap
  std::mt19937 random(20263);
  for (int program = 0; program < 30; ++program) {
    Table table;
    table.initialise(kProcs);
    std::map<std::int64_t, RegionType*> live;
    std::map<std::int64_t, std::unique_ptr<RegionType>> removed;
    std::vector<bool> used(64);
    std::map<std::int64_t, std::size_t> slot_of;
    for (int step = 0; step < 400; ++step) {
      const std::size_t slot = random() % used.size();
      if (random() % 3 == 0 && !used[slot]) {
        std::vector<std::pair<std::uintptr_t, std::size_t>> parts;
        for (int proc = 0; proc < kProcs; ++proc) {
          const std::size_t bytes = random() % 3 == 0 ? 0 : 1 + random() % kSlotBytes;
          parts.emplace_back(bytes == 0 ? 0 : 0x100000 + slot * kSlotBytes, bytes);
        }
        const std::int64_t id = step + 1;
        live[id] = add(table, id, parts);
        slot_of[id] = slot;
        used[slot] = true;
      } else if (random() % 4 == 0 && !live.empty()) {
        const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        removed[victim->first] = table.remove(victim->first);
        ASSERT_EQ(removed[victim->first].get(), victim->second);
        used[slot_of[victim->first]] = false;
        live.erase(victim);
      }
      for (int lookup = 0; lookup < 20; ++lookup) {
        const int proc = static_cast<int>(random() % kProcs);
        const std::uintptr_t at = 0x100000 + random() % (used.size() * kSlotBytes);
        const std::size_t bytes = 1 + random() % 200;
        const Table::Part* expected = nullptr;
        for (const auto& [id, region] : live) {
          const Table::Part& part = region->parts[static_cast<std::size_t>(proc)];
          const auto base = reinterpret_cast<std::uintptr_t>(part.base);
          if (part.bytes > 0 && at >= base && at + bytes <= base + part.bytes) expected = &part;
        }
        ASSERT_EQ(table.find(proc, address(at), bytes), expected) << "program " << program << " step " << step;
      }
    }
  }
}

// Lookups in one region while another, which shares their place in the cache, comes and goes.
TEST(RegionTableTest, ThreadsFindTheirRegionWhileOthersComeAndGo) {
  Table table;
  table.initialise(1);
  RegionType* kept = add(table, 1, {{0x10000, 64}});
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        wrong += table.find(0, address(0x10000), 64) != &kept->parts[0];
        table.find(0, address(0x20000), 1);
      }
    });
  }
  for (std::int64_t id = 2; id < 5000; ++id) {
    add(table, id, {{0x20000, 64}});
    table.remove(id);
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace armci::runtime
