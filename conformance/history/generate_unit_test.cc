// The parts of random programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/history/generate.h"
#include "conformance/history/location_consistency.h"

namespace conformance::history {
namespace {

TEST(GenerateTest, TheSameSeedGivesTheSameProgram) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    EXPECT_EQ(Generate(7, ranks, Recipe{}), Generate(7, ranks, Recipe{}));
    EXPECT_NE(Generate(7, ranks, Recipe{}), Generate(8, ranks, Recipe{}));
  }
}

TEST(GenerateTest, EverythingOccurs) {
  std::set<Kind> kinds;
  std::set<std::tuple<Kind, Shape, Mode>> transfers;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const Step& step : Generate(seed, 3, Recipe{}).steps) {
      kinds.insert(step.kind);
      const bool transfer = step.kind == Kind::kPut || step.kind == Kind::kGet || step.kind == Kind::kAccumulate;
      if (transfer) transfers.insert({step.kind, step.shape, step.mode});
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(Kind::kPause) + 1);
  // Put, get, accumulate x contiguous, strided, vector x four modes; put of a value x four modes, get of one.
  EXPECT_EQ(transfers.size(), 3u * 3 * 4 + 4 + 1);
}

TEST(GenerateTest, OnlyTheChosenSynchronisationOccurs) {
  Recipe recipe;
  recipe.barriers = recipe.mutexes = recipe.messages = false;
  const Program program = Generate(1, 3, recipe);
  int notifications = 0;
  for (const Step& step : program.steps) {
    EXPECT_NE(step.kind, Kind::kLock);
    EXPECT_NE(step.kind, Kind::kSend);
    notifications += step.kind == Kind::kNotify ? 1 : 0;
  }
  EXPECT_GT(notifications, 3);
}

TEST(GenerateTest, NoTwoStoresToALocationLeaveTheSameMark) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::set<long> numbers;
    for (const Location& location : LocationsOf(Generate(seed, 4, Recipe{}))) {
      if (location.initial == 0) continue;  // a counter
      long bits = 0;
      EXPECT_TRUE(numbers.insert(location.initial).second);
      for (const Access& put : location.puts) EXPECT_TRUE(numbers.insert(put.value).second);
      for (const Access& add : location.adds) {
        EXPECT_EQ(bits & add.value, 0);
        EXPECT_EQ(add.value & ~kBits, 0);
        bits |= add.value;
      }
    }
  }
}

TEST(GenerateTest, EveryLocationIsReadAtTheEnd) {
  for (const Location& location : LocationsOf(Generate(1, 3, Recipe{}))) {
    EXPECT_TRUE(IsCounter(Generate(1, 3, Recipe{}).cells[static_cast<std::size_t>(location.cell)].role) ||
                location.reads.size() >= 2);
  }
}

TEST(GenerateTest, ProgramsFitTheMemory) {
  int largest = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    largest = std::max(largest, Generate(seed, 2, Recipe{}).cells.back().offset + 8);
  }
  EXPECT_LE(largest, kPartBytesMax);
  EXPECT_GT(largest, 100000) << "large transfers occur";
}

TEST(GenerateTest, NothingWaitsInsideACriticalSection) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::map<int, bool> inside;
    for (const Step& step : Generate(seed, 3, Recipe{}).steps) {
      const bool waits = step.kind == Kind::kAwait || step.kind == Kind::kReceive || step.kind == Kind::kBarrier ||
                         step.kind == Kind::kMpiBarrier || step.kind == Kind::kLock;
      EXPECT_FALSE(waits && inside[step.rank]);
      if (step.kind == Kind::kLock) inside[step.rank] = true;
      if (step.kind == Kind::kUnlock) inside[step.rank] = false;
    }
  }
}

}  // namespace
}  // namespace conformance::history
