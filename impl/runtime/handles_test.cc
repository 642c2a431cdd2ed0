#include "impl/runtime/handles.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace armci::runtime {
namespace {

using Table = HandleTable<int>;  // a completion is the operation's number

constexpr auto kFinished = [](int&) { return true; };
constexpr auto kUnfinished = [](int&) { return false; };

auto targets(int proc) {
  return [proc](const Table::Pending& pending) { return pending.target == proc; };
}

TEST(HandleTableTest, AHandleNeverUsedIsComplete) {
  Table table;
  armci_hdl_t handle{};
  EXPECT_TRUE(table.complete(&handle, kUnfinished));
}

TEST(HandleTableTest, AHandleOfAnEarlierLibraryLifeIsComplete) {
  Table table;
  armci_hdl_t handle{};
  table.add(&handle, {1, 0});
  table.clear();
  EXPECT_TRUE(table.complete(&handle, kUnfinished));
  EXPECT_EQ(table.total(), 0u);
}

TEST(HandleTableTest, AHandleWithAnImpossibleSlotIsComplete) {
  Table table;
  armci_hdl_t handle{};
  write_handle(&handle, HandleBits{4'000'000'000u, 0, 1});
  EXPECT_TRUE(table.complete(&handle, kUnfinished));
}

TEST(HandleTableTest, UnfinishedOperationsAreKept) {
  Table table;
  armci_hdl_t handle{};
  for (int i = 0; i < 5; ++i) table.add(&handle, {i, 0});
  EXPECT_FALSE(table.complete(&handle, [](int& number) { return number % 2 == 0; }));
  std::set<int> left;
  EXPECT_TRUE(table.complete(&handle, [&](int& number) { return left.insert(number).second; }));
  EXPECT_EQ(left, (std::set<int>{1, 3}));
}

TEST(HandleTableTest, EveryOperationIsTestedOnceInTheOrderOfAdding) {
  Table table;
  armci_hdl_t handle{};
  for (int i = 0; i < 6; ++i) table.add(&handle, {i, 0});
  std::vector<int> tested;
  table.complete(&handle, [&](int& number) {
    tested.push_back(number);
    return number == 2;
  });
  EXPECT_EQ(tested, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

using Runs = std::vector<std::pair<int, std::size_t>>;

Runs runs_of(const Table& table) {
  Runs runs;
  EXPECT_TRUE(table.try_visit([&](int target, std::size_t operations) { runs.emplace_back(target, operations); }));
  return runs;
}

TEST(HandleTableTest, AVisitReportsRunsOfOperationsToOneTarget) {
  Table table;
  EXPECT_EQ(runs_of(table), Runs{});
  for (const int target : {1, 1, 2, 1}) table.add(nullptr, {0, target});
  armci_hdl_t handle{};
  table.add(&handle, {0, 1});
  EXPECT_EQ(runs_of(table), (Runs{{1, 2}, {2, 1}, {1, 2}}));
}

TEST(HandleTableTest, AVisitDoesNotWait) {
  Table table;
  table.add(nullptr, {0, 1});
  table.complete(nullptr, [&](int&) {  // the table is locked
    std::thread([&] { EXPECT_FALSE(table.try_visit([](int, std::size_t) { ADD_FAILURE(); })); }).join();
    return true;
  });
}

TEST(HandleTableTest, AStaleCopyDoesNotMeetTheSlotsNextUser) {
  Table table;
  armci_hdl_t first{};
  table.add(&first, {1, 0});
  armci_hdl_t stale = first;
  EXPECT_TRUE(table.complete(&first, kFinished));
  armci_hdl_t second{};
  table.add(&second, {2, 0});
  ASSERT_EQ(read_handle(&second).slot, read_handle(&stale).slot);
  EXPECT_TRUE(table.complete(&stale, kFinished));
  EXPECT_EQ(table.total(), 1u);
}

TEST(HandleTableTest, AddingToAStaleCopyStartsAnew) {
  Table table;
  armci_hdl_t first{};
  table.add(&first, {1, 0});
  armci_hdl_t stale = first;
  EXPECT_TRUE(table.complete(&first, kFinished));
  armci_hdl_t second{};
  table.add(&second, {2, 0});
  table.add(&stale, {3, 0});
  std::vector<int> tested;
  table.complete(&stale, [&](int& number) {
    tested.push_back(number);
    return true;
  });
  EXPECT_EQ(tested, std::vector<int>{3});
}

TEST(HandleTableTest, CompletionForATargetLeavesTheOthers) {
  Table table;
  armci_hdl_t handle{};
  table.add(&handle, {1, 7});
  table.add(&handle, {2, 8});
  table.add(nullptr, {3, 7});
  EXPECT_TRUE(table.complete_if(targets(7), kFinished));
  EXPECT_EQ(table.total(), 1u);
  EXPECT_FALSE(table.complete(&handle, kUnfinished));
}

TEST(HandleTableTest, WhatIsPendingIsFoundByHandleAndByTarget) {
  Table table;
  armci_hdl_t handle{};
  table.add(&handle, {1, 7});
  table.add(nullptr, {2, 7});
  table.add(&handle, {3, 8});
  const armci_hdl_t stale = handle;
  EXPECT_EQ(table.pending_of(&handle), (std::vector{1, 3}));
  EXPECT_EQ(table.pending_of(nullptr), std::vector{2});
  EXPECT_EQ(table.pending_if(targets(7)), (std::vector{2, 1})) << "slot after slot";
  EXPECT_TRUE(table.complete(&handle, kFinished));
  EXPECT_TRUE(table.pending_of(&handle).empty());
  EXPECT_TRUE(table.pending_of(&stale).empty());
}

TEST(HandleTableTest, CompletionForATargetReportsWhenOperationsAreLeft) {
  Table table;
  table.add(nullptr, {1, 7});
  table.add(nullptr, {2, 8});
  EXPECT_FALSE(table.complete_if(targets(7), kUnfinished));
  EXPECT_TRUE(table.complete_if(targets(9), kUnfinished));
}

TEST(HandleTableTest, TheAggregateBitSurvivesUseAndCompletion) {
  Table table;
  armci_hdl_t handle{};
  write_handle(&handle, HandleBits{0, 1, 0});
  table.add(&handle, {1, 0});
  EXPECT_EQ(read_handle(&handle).aggregate, 1u);
  EXPECT_TRUE(table.complete(&handle, kFinished));
  EXPECT_EQ(read_handle(&handle).aggregate, 1u);
}

struct Coalesced {
  int number;
  bool aggregate;
  bool operator==(const Coalesced&) const = default;
};

TEST(HandleTableTest, CoalescedOperationsWithOneCompletionAreOne) {
  HandleTable<Coalesced> table;
  const auto finished = [](Coalesced&) { return true; };
  armci_hdl_t handle{};
  for (int i = 0; i < 3; ++i) table.add(&handle, {{1, true}, 7});
  table.add(&handle, {{1, true}, 8});  // a fence to 8 completes its own
  EXPECT_EQ(table.total(), 2u);
  EXPECT_TRUE(table.complete_if([](const auto& one) { return one.target == 8; }, finished));
  EXPECT_FALSE(table.complete(&handle, [](Coalesced&) { return false; }));
  EXPECT_TRUE(table.complete(&handle, finished));
  EXPECT_EQ(table.total(), 0u);
  for (int i = 0; i < 3; ++i) table.add(&handle, {{1, false}, 7});
  EXPECT_EQ(table.total(), 3u) << "others are kept, whatever their completions are";
  EXPECT_TRUE(table.complete(&handle, finished));
}

// Programs may drop handles whose operations a fence completed: their slots come back.
TEST(HandleTableTest, SlotsOfHandlesThatAreNeverWaitedForAreUsedAgain) {
  Table table;
  std::uint32_t highest = 0;
  for (int i = 0; i < 10000; ++i) {
    armci_hdl_t dropped{};
    table.add(&dropped, {i, 0});
    highest = std::max(highest, read_handle(&dropped).slot);
    EXPECT_TRUE(table.complete_if(targets(0), kFinished));
  }
  EXPECT_EQ(highest, 1u);
}

// A random program against a model that knows each handle's operations by heart.
TEST(HandleTableTest, RandomProgramsAgreeWithAModel) {
  std::mt19937 random(20262);
  for (int program = 0; program < 50; ++program) {
    Table table;
    constexpr std::size_t kHandles = 8;
    armci_hdl_t handles[kHandles] = {};
    std::map<std::size_t, std::map<int, int>> model;  // handle -> operation -> target; kHandles is the implicit one
    int next = 0;
    const auto handle_at = [&](std::size_t i) { return i == kHandles ? nullptr : &handles[i]; };
    for (int step = 0; step < 300; ++step) {
      const std::size_t which = random() % (kHandles + 1);
      const int target = static_cast<int>(random() % 3);
      std::set<int> tested;
      std::set<int> expected;
      switch (random() % 4) {
        case 0:
        case 1:
          table.add(handle_at(which), {next, target});
          model[which].emplace(next++, target);
          break;
        case 2:
          table.complete(handle_at(which), [&](int& number) { return tested.insert(number).second; });
          for (const auto& [number, to] : model[which]) expected.insert(number);
          model[which].clear();
          break;
        default:
          table.complete_if(targets(target), [&](int& number) { return tested.insert(number).second; });
          for (auto& [handle, operations] : model) {
            std::erase_if(operations, [&](const auto& one) {
              if (one.second == target) expected.insert(one.first);
              return one.second == target;
            });
          }
      }
      ASSERT_EQ(tested, expected) << "program " << program << " step " << step;
      std::size_t left = 0;
      for (const auto& [handle, operations] : model) left += operations.size();
      ASSERT_EQ(table.total(), left);
    }
  }
}

TEST(HandleTableTest, ThreadsCompleteTheirOwnOperationsOnly) {
  Table table;
  std::vector<std::thread> threads;
  std::atomic<int> strangers{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 2000; ++round) {
        armci_hdl_t handle{};
        for (int i = 0; i < 3; ++i) table.add(&handle, {t, t});
        table.complete(&handle, [&](int& owner) {
          strangers += owner != t;
          return true;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(strangers.load(), 0);
  EXPECT_EQ(table.total(), 0u);
}

TEST(HandleTableTest, AHeldSlotStaysItsHandles) {
  Table table;
  armci_hdl_t handle{};
  const HandleBits held = table.hold(&handle);
  EXPECT_NE(held.slot, 0u);
  EXPECT_EQ(table.total(), 1u);
  table.add(&handle, {1, 0});
  EXPECT_TRUE(table.complete_if(targets(0), kFinished));
  armci_hdl_t other{};
  table.add(&other, {2, 0});
  EXPECT_NE(read_handle(&other).slot, held.slot);
  table.add(&handle, {3, 0});
  EXPECT_EQ(read_handle(&handle).slot, held.slot);
  EXPECT_EQ(read_handle(&handle).serial, held.serial);
  EXPECT_TRUE(table.complete(&other, kFinished));
  table.let_go(held);
  EXPECT_FALSE(table.complete(&handle, kUnfinished));
  EXPECT_TRUE(table.complete(&handle, kFinished));
  EXPECT_EQ(table.total(), 0u);
}

TEST(HandleTableTest, ASlotThatWasHeldForNothingIsFreeAgain) {
  Table table;
  armci_hdl_t handle{};
  const HandleBits held = table.hold(&handle);
  table.let_go(held);
  EXPECT_EQ(table.total(), 0u);
  EXPECT_TRUE(table.complete(&handle, kUnfinished));
  armci_hdl_t next{};
  table.add(&next, {1, 0});
  EXPECT_EQ(read_handle(&next).slot, held.slot);
  EXPECT_TRUE(table.complete(&handle, kUnfinished));  // not the next one's operation
}

}  // namespace
}  // namespace armci::runtime
