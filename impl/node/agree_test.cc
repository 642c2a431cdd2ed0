#include "impl/node/agree.h"

#include <gtest/gtest.h>

namespace armci::node {
namespace {

TEST(AgreeTest, SuccessAndFailureOfTheOnlyProcess) {
  EXPECT_TRUE(agree(MPI_COMM_SELF, kSuccess, "trying").ok());
  const Status mine = fail(Code::kProc, "ERR-1", "mine");
  EXPECT_EQ(agree(MPI_COMM_SELF, mine, "trying").code(), Code::kProc);
  EXPECT_STREQ(last_cause().text, "mine");
}

}  // namespace
}  // namespace armci::node
