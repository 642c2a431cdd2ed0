#include "impl/api/totals.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "impl/runtime/stats.h"

namespace armci::runtime {
namespace {

class TotalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(stats().initialise(kApiNames, kApiCount).ok());
    reset_totals();
  }
  void TearDown() override { stats().finalise(); }

  static void call(const char* name, std::uint64_t bytes = 0, std::uint64_t same_node_bytes = 0) {
    const int number = find_call(name);
    ASSERT_GE(number, 0) << name;
    count_call(static_cast<ApiId>(number), Usage{bytes, same_node_bytes, 0}, 1000);
  }
};

TEST_F(TotalsTest, EveryNameIsFoundAndNoOther) {
  for (int call = 0; call < kApiCount; ++call) EXPECT_EQ(find_call(kApiNames[call]), call);
  EXPECT_EQ(find_call("ARMCI_PutX"), -1);
  EXPECT_EQ(find_call(""), -1);
}

TEST_F(TotalsTest, PutsOfAllShapesCountAsPuts) {
  for (const char* name : {"ARMCI_Put", "ARMCI_PutS", "ARMCI_PutV", "ARMCI_NbPut", "ARMCI_PutValueInt", "ARMCIX_Put"}) {
    call(name, 100);
  }
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.puts, 6u);
  EXPECT_EQ(totals.put_bytes, 600u);
  EXPECT_EQ(totals.gets + totals.accs + totals.rmws + totals.locks + totals.fences + totals.barriers, 0u);
}

TEST_F(TotalsTest, GetsAndAccumulatesCountAsSuch) {
  call("ARMCI_GetS", 10);
  call("ARMCI_GetValueDouble", 8);
  call("ARMCI_AccS", 24);
  call("ARMCI_NbAccV", 16);
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.gets, 2u);
  EXPECT_EQ(totals.get_bytes, 18u);
  EXPECT_EQ(totals.accs, 2u);
  EXPECT_EQ(totals.acc_bytes, 40u);
}

// Names that contain another kind's word.
TEST_F(TotalsTest, AccessAndGroupQueriesAreNoTransfers) {
  call("ARMCI_Access_begin");
  call("ARMCI_Access_end");
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.accs + totals.puts + totals.gets, 0u);
  EXPECT_EQ(totals.calls, 2u);
}

TEST_F(TotalsTest, AQueryOfTheDefaultGroupIsNoGet) {
  call("ARMCI_Group_get_default");
  EXPECT_EQ(snapshot_totals().gets, 0u);
}

TEST_F(TotalsTest, MemoryThatOthersAttachIsNoGet) {
  call("ARMCI_Memget", 64);
  EXPECT_EQ(snapshot_totals().gets, 0u);
}

TEST_F(TotalsTest, AQueryOfStatisticsOrSettingsIsNoTransfer) {
  call("ARMCIX_Stats_get");
  EXPECT_EQ(snapshot_totals().gets, 0u);
}

TEST_F(TotalsTest, SynchronisationCountsByKind) {
  call("ARMCI_Rmw");
  call("ARMCIX_Rmw");
  call("ARMCI_Lock");
  call("ARMCIX_Trylock_hdl");
  call("ARMCI_Fence");
  call("ARMCI_AllFence");
  call("ARMCI_Barrier");
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.rmws, 2u);
  EXPECT_EQ(totals.locks, 2u);
  EXPECT_EQ(totals.fences, 2u);
  EXPECT_EQ(totals.barriers, 1u);
}

TEST_F(TotalsTest, UnlockIsNoLock) {
  call("ARMCI_Unlock");
  EXPECT_EQ(snapshot_totals().locks, 0u);
}

TEST_F(TotalsTest, BytesAreSplitByWhereTheyWent) {
  call("ARMCI_Put", 100, 100);
  call("ARMCI_Get", 50, 20);
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.same_node_bytes, 120u);
  EXPECT_EQ(totals.remote_bytes, 30u);
}

TEST_F(TotalsTest, ErrorsCountUntilReset) {
  count_error();
  count_error();
  EXPECT_EQ(snapshot_totals().errors, 2u);
  reset_totals();
  EXPECT_EQ(snapshot_totals().errors, 0u);
}

TEST(TotalsOffTest, NothingCountsWithoutStatistics) {
  reset_totals();
  count_error();
  count_call(static_cast<ApiId>(0), Usage{100, 0, 0}, 1);
  const armcix_stats_t totals = snapshot_totals();
  EXPECT_EQ(totals.calls + totals.errors + totals.remote_bytes, 0u);
}

}  // namespace
}  // namespace armci::runtime
