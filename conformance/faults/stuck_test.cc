// Tests that hang, each rank in another way: for test_deadline.py, which checks the report of the deadline.

#include <mpi.h>

#include <vector>

#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Longer than any process waits.
constexpr double kForever = 1e5;

CLAUSE_TEST(MUTEX, MUTEX6_every_rank_is_stuck_in_another_way, "MUTEX-6", NeedsRanks(4)) {
  Region region(4096);
  Mutexes mutexes(2);
  std::vector<char> local(4096);
  const Plan plan = PlanOfSize(Shape::kStrided, 512, 8);
  Transfer transfer(plan, Op::kPut, Mode::kAggregate);
  if (Me() == 0) {
    // The mutex is held for good before another rank requests it.
    const Locked locked(1, 2);
    EXPECT_EQ(transfer.Start(local.data(), region.At(3), 3), 0);
    Agree();
    WaitUntil([] { return false; }, "what never comes", kForever);
  }
  Agree();
  if (Me() == 1) {
    EXPECT_EQ(transfer.Start(local.data(), region.At(2), 2), 0);
    EXPECT_EQ(transfer.Wait(), 0);
    const Locked locked(1, 2);
  } else if (Me() == 2) {
    int count = 0;
    armci_notify_wait(1, &count);
  }
  Sync();
}

CHILD_CASE(waits_forever) {
  MPI_Init(nullptr, nullptr);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  int count = 0;
  if (armci_msg_me() == 0) armci_notify_wait(1, &count);
  armci_msg_barrier();
  return 0;
}

CLAUSE_TEST(MUTEX, MUTEX6_job_of_its_own_is_stuck, "MUTEX-6") {
  if (Me() == 0) {
    const ChildResult result = RunChildJob(2, "waits_forever", "", {}, 10);
    EXPECT_EQ(result.status, 0) << result.Text();
  }
  Sync();
}

}  // namespace
}  // namespace conformance
