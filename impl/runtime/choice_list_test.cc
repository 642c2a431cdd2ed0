#include "impl/runtime/choice_list.h"

#include <gtest/gtest.h>

namespace armci::runtime {
namespace {

void expect_two(const ChoiceList& list) {
  ASSERT_EQ(list.all().size(), 2u);
  EXPECT_STREQ(list.all()[0].name, "device");
  EXPECT_STREQ(list.all()[0].value, "fake0");
  EXPECT_STREQ(list.all()[1].name, "server");
  EXPECT_STREQ(list.all()[1].value, "");
}

TEST(ChoiceListTest, IsInTheOrderOfAddingAndTheSameAfterSharing) {
  ChoiceList list;
  list.add("device", "fake0");
  list.add("server", "");
  expect_two(list);
  ASSERT_TRUE(list.share(MPI_COMM_SELF).ok());
  expect_two(list);
}

TEST(ChoiceListTest, NothingCanBeShared) {
  ChoiceList list;
  ASSERT_TRUE(list.share(MPI_COMM_SELF).ok());
  EXPECT_TRUE(list.all().empty());
}

TEST(ChoiceListTest, IsEmptyWhenCleared) {
  ChoiceList list;
  list.add("device", "fake0");
  list.clear();
  EXPECT_TRUE(list.all().empty());
}

}  // namespace
}  // namespace armci::runtime
