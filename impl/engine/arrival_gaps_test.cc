#include "impl/engine/arrival_gaps.h"

#include <gtest/gtest.h>

namespace armci::engine {
namespace {

std::int64_t fake_now_us = 0;

class ArrivalGapsTest : public ::testing::Test {
 protected:
  void arrive_after(std::int64_t us) {
    gaps_.found_none();
    fake_now_us += us;
    gaps_.found_work();
  }
  void arrive_in_a_row() {
    for (int i = 0; i < ArrivalGaps::kShortGapsMin; ++i) arrive_after(ArrivalGaps::kShortUs);
  }

  ArrivalGaps gaps_{[] { return fake_now_us; }};
};

TEST_F(ArrivalGapsTest, SomeShortOnesInARowAreNeeded) {
  EXPECT_FALSE(gaps_.are_short());
  arrive_after(1000);
  for (int i = 0; i < ArrivalGaps::kShortGapsMin; ++i) {
    EXPECT_FALSE(gaps_.are_short()) << i;
    arrive_after(ArrivalGaps::kShortUs);
  }
  EXPECT_TRUE(gaps_.are_short());
}

TEST_F(ArrivalGapsTest, ALongOneEndsThem) {
  arrive_in_a_row();
  arrive_in_a_row();
  EXPECT_TRUE(gaps_.are_short());
  arrive_after(ArrivalGaps::kShortUs + 1);
  EXPECT_FALSE(gaps_.are_short());
}

TEST_F(ArrivalGapsTest, PartsOfOneArrivalHaveNone) {
  arrive_after(1000);
  for (int i = 0; i < 10; ++i) gaps_.found_work();
  EXPECT_FALSE(gaps_.are_short());
}

}  // namespace
}  // namespace armci::engine
