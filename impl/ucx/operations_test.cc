#include "impl/ucx/operations.h"

#include <gtest/gtest.h>

namespace armci::ucx {
namespace {

using Table = Operations<int>;

TEST(OperationsTest, EndsWithTheLastOfItsParts) {
  Table table;
  const Mark mark = table.begin();
  table.add_part(mark);
  table.add_part(mark);
  EXPECT_EQ(table.under_way(), 1u);
  table.end_part(mark);
  table.end_part(mark);
  EXPECT_TRUE(table.is_under_way(mark));
  table.end_part(mark);
  EXPECT_FALSE(table.is_under_way(mark));
  EXPECT_EQ(table.under_way(), 0u);
}

TEST(OperationsTest, OneThatWentWellNeedNeverBeAskedAbout) {
  Table table;
  const Mark first = table.begin();
  table.end_part(first);
  const Mark second = table.begin();
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_FALSE(table.is_under_way(first));
  EXPECT_TRUE(table.is_under_way(second));
  int failure = 0;
  EXPECT_FALSE(table.take_failure(first, &failure));
}

TEST(OperationsTest, TheFirstFailureIsKeptUntilItIsAsked) {
  Table table;
  const Mark mark = table.begin();
  table.add_part(mark);
  table.end_part(mark, true, 7);
  int failure = 0;
  EXPECT_FALSE(table.take_failure(mark, &failure));  // a part is under way
  table.end_part(mark, true, 8);
  EXPECT_FALSE(table.is_under_way(mark));
  EXPECT_NE(table.begin().slot, mark.slot);
  ASSERT_TRUE(table.take_failure(mark, &failure));
  EXPECT_EQ(failure, 7);
  EXPECT_FALSE(table.take_failure(mark, &failure));
}

TEST(OperationsTest, TheDefaultMeansNone) {
  Table table;
  EXPECT_TRUE(Mark{}.none());
  EXPECT_FALSE(table.is_under_way({}));
  int failure = 0;
  EXPECT_FALSE(table.take_failure({}, &failure));
}

}  // namespace
}  // namespace armci::ucx
