#include "impl/node/node_barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <tuple>

#include "impl/node/wait.h"
#include "impl/testing/patient_futex.h"
#include "impl/testing/processes.h"

namespace armci::node {
namespace {

using testing::run_processes;
using testing::SharedMemory;

constexpr int kRounds = 3000;

// processes, spin iterations (-1: as usual)
class NodeBarrierTest : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  // Every process counts its rounds in plain memory; behind the barrier each must see all others' counts.
  template <class Enter>
  int run(Enter enter) {
    const auto [processes, spin] = GetParam();
    SharedMemory memory(65536);
    auto* barrier = memory.at<Barrier>();
    auto* rounds = memory.at<std::int64_t>(4096);
    return run_processes(processes, [=, processes = processes, spin = spin](int index) {
      set_spin_policy(processes, 2, spin);
      for (std::int64_t round = 1; round <= kRounds; ++round) {
        rounds[8 * index] = round;
        enter(barrier, index, processes);
        for (int other = 0; other < processes; ++other) {
          if (rounds[8 * other] != round) return 1;
        }
        enter(barrier, index, processes);  // no process goes on while others still read
      }
      return lost_wakeups() == 0 ? 0 : 2;
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, NodeBarrierTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5), ::testing::Values(0, -1)));

TEST_P(NodeBarrierTest, NoProcessLeavesBeforeAllHaveCome) {
  EXPECT_EQ(run([](Barrier* barrier, int, int processes) { barrier_wait(barrier, processes); }), 0);
}

TEST_P(NodeBarrierTest, TheMasterWaitsForAllAndLetsThemGo) {
  EXPECT_EQ(run([](Barrier* barrier, int index, int processes) {
              if (index != 0) return barrier_follow(barrier);
              barrier_gather(barrier, processes);
              barrier_release(barrier);
            }),
            0);
}

// The work of the masters between gather and release happens while their nodes wait.
TEST(NodeBarrierHalvesTest, FollowersWaitForTheRelease) {
  SharedMemory memory(4096);
  auto* barrier = memory.at<Barrier>();
  auto* between = memory.at<std::atomic<std::int64_t>>(1024);
  const int failed = run_processes(3, [=](int index) {
    for (std::int64_t round = 1; round <= 500; ++round) {
      if (index == 0) {
        barrier_gather(barrier, 3);
        between->store(round, std::memory_order_relaxed);
        barrier_release(barrier);
      } else {
        barrier_follow(barrier);
        if (between->load(std::memory_order_relaxed) < round) return 1;
      }
    }
    return lost_wakeups() == 0 ? 0 : 2;
  });
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace armci::node
