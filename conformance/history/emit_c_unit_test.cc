// The emitted file as text; that it compiles, runs and judges is tested by the programs made from it (see BUILD).

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/history/emit_c.h"
#include "conformance/history/emit_rules.h"
#include "conformance/history/generate.h"
#include "conformance/history/testing.h"

namespace conformance::history {
namespace {

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(EmitCTest, TheTemplateIsFilled) {
  const std::string code = EmitC(Generate(1, 3, Recipe{}), "the story");
  EXPECT_TRUE(Contains(code, "/* the story\n"));
  EXPECT_TRUE(Contains(code, "#define RANKS 3\n"));
  EXPECT_FALSE(Contains(code, "@"));
}

TEST(EmitCTest, CallsAreThoseOfTheProgram) {
  Script script(2);
  script.Put(0, kX, ValueOf(100)).Notify(0, 1, 1).Await(1, 0, 1).Lock(1, 2).Get(1, kX, 0).Unlock(1, 2).Barrier();
  const std::string code = EmitC(script.program(), "");
  EXPECT_TRUE(Contains(code, "must(ARMCI_Put(b0, base[0] + 0, 8, 0));"));
  EXPECT_TRUE(Contains(code, "armci_notify(1);"));
  EXPECT_TRUE(Contains(code, "armci_notify_wait(0, &count);"));
  EXPECT_TRUE(Contains(code, "ARMCI_Lock(0, 0);"));
  EXPECT_TRUE(Contains(code, "must(ARMCI_Get(base[0] + 0, b4, 8, 0));"));
  EXPECT_TRUE(Contains(code, "ARMCI_Barrier();"));
}

// Rows of a table, counted.
long Rows(const std::string& table) { return std::count(table.begin(), table.end(), '{'); }

TEST(EmitCTest, ARuleForEveryLegalValue) {
  Script script(2);
  script.Put(0, kX, ValueOf(100)).Get(1, kX, 0);
  EXPECT_EQ(Rows(RulesOf(script.program(), SlotsOf(script.program())).legal), 2) << "initial, put";
  script.Barrier().Get(1, kX, 0);
  const Rules rules = RulesOf(script.program(), SlotsOf(script.program()));
  EXPECT_EQ(Rows(rules.legal), 3) << "behind the barrier: put";
  EXPECT_EQ(Rows(rules.pairs), 1);
  EXPECT_EQ(Rows(rules.older), 1);
}

TEST(EmitCTest, OneSetOfRulesForEachOrderOfTheMutexes) {
  Script script(2);
  for (int rank = 0; rank < 2; ++rank) {
    script.Lock(rank, rank + 1).Put(rank, kX, ValueOf(100 + rank)).Fence(rank).Unlock(rank, rank + 1);
  }
  EXPECT_EQ(RulesOf(script.program(), {}).orders, 2);
  // One rank's sections come in its own order.
  Script one(1);
  for (int i = 0; i < 3; ++i) one.Lock(0, i).Unlock(0, i);
  EXPECT_EQ(RulesOf(one.program(), {}).orders, 1);
}

}  // namespace
}  // namespace conformance::history
