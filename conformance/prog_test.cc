// PROG: one-sided calls complete while the target does something else.
//
// The absence of the target ends only when the origin, having completed its operations, says so by one more put (or by
// the message the target waits for). If an operation needed the target, neither would move, and the test's own limit
// reports it. Nothing here measures time.

#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

enum class Absence { kComputes, kSleeps, kReceives, kBarrier };
constexpr const char* kAbsenceNames[] = {"computes", "sleeps", "sits_in_receive", "sits_in_barrier"};

constexpr std::size_t kDoneOffset = 1 << 20;
constexpr std::size_t kRegionBytes = kDoneOffset + 64;

// An operation of the origin on `target`, to be completed remotely where it stores.
using Operation = std::function<void(const Region&, int)>;

void PutAndFence(const Region& region, int target) {
  for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{500000}}) {
    for (Shape shape : kShapes) {
      const Plan plan = PlanOfSize(shape, bytes, 8);
      if (plan.DstEnd() > static_cast<std::ptrdiff_t>(kDoneOffset)) continue;
      Bytes source(static_cast<std::size_t>(plan.SrcEnd()), 's');
      EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, source.data(), region.At(target), target), 0);
      ARMCI_Fence(target);
    }
  }
}

void GetData(const Region& region, int target) {
  for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{500000}}) {
    for (Shape shape : kShapes) {
      const Plan plan = PlanOfSize(shape, bytes, 8);
      if (plan.SrcEnd() > static_cast<std::ptrdiff_t>(kDoneOffset)) continue;
      Bytes destination(static_cast<std::size_t>(plan.DstEnd()));
      EXPECT_EQ(Move(plan, Op::kGet, Mode::kNonblocking, region.At(target), destination.data(), target), 0);
    }
  }
}

void AccumulateAndFence(const Region& region, int target) {
  for (const AccType& type : kAccTypes) {
    for (std::size_t elements : {1u, 1000u}) {
      const Plan plan = ContiguousPlan(elements * type.bytes);
      Bytes source(plan.TotalBytes(), 0);
      Transfer transfer(plan, Op::kAcc, Mode::kBlocking);
      transfer.SetAcc(type, UnitScale(type));
      EXPECT_EQ(transfer.Start(source.data(), region.At(target), target), 0);
      ARMCI_Fence(target);
    }
  }
}

void ReadModifyWrite(const Region& region, int target) {
  for (int i = 0; i < 50; ++i) {
    int value = 1;
    long wide = 1;
    EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &value, region.At(target), 1, target), 0);
    EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &wide, region.At(target, 8), 0, target), 0);
  }
}

void LockAndUnlock(const Region&, int target) {
  for (int i = 0; i < 50; ++i) {
    ARMCI_Lock(0, target);
    ARMCI_Unlock(0, target);
  }
}

// The target's side: until the origin's last put (or its message, or the barrier) ends the absence.
void BeAbsent(Absence how, const Region& region, int origin) {
  const char* done = region.Mine() + kDoneOffset;
  switch (how) {
    case Absence::kComputes: {
      volatile double work = 1;
      WaitUntil(
          [&] {
            for (int i = 0; i < 1000; ++i) work = work * 1.0000001;
            return LoadShared<long>(done) == 1;
          },
          "the origin to complete while the target computes");
      break;
    }
    case Absence::kSleeps:
      WaitUntil(
          [&] {
            usleep(20000);
            return LoadShared<long>(done) == 1;
          },
          "the origin to complete while the target sleeps");
      break;
    case Absence::kReceives:
      MPI_Recv(nullptr, 0, MPI_INT, origin, 11, Comm(), MPI_STATUS_IGNORE);
      break;
    case Absence::kBarrier:
      MPI_Barrier(Comm());
      break;
  }
}

void EndAbsence(Absence how, const Region& region) {
  long one = 1;
  for (int target = 0; target < Np(); ++target) {
    if (target == Me()) continue;
    if (how == Absence::kReceives) {
      MPI_Send(nullptr, 0, MPI_INT, target, 11, Comm());
    } else if (how != Absence::kBarrier) {
      EXPECT_EQ(ARMCI_Put(&one, region.At(target, kDoneOffset), 8, target), 0);
      ARMCI_Fence(target);
    }
  }
  if (how == Absence::kBarrier) MPI_Barrier(Comm());
}

// Rank 0 works on every other rank in turn; all of those are absent at the same time (PROG-2).
void OperateOnAbsent(const Operation& operation, Absence how) {
  Region region(kRegionBytes);
  Mutexes mutexes(1);
  for (int round = 0; round < Scaled(3, 1); ++round) {
    StoreShared<long>(region.Mine() + kDoneOffset, 0);
    Sync();
    if (Me() == 0) {
      for (int target = 1; target < Np(); ++target) operation(region, target);
      EndAbsence(how, region);
    } else {
      BeAbsent(how, region, 0);
    }
    Sync();
  }
}

bool RegisterAll() {
  const std::vector<std::pair<const char*, Operation>> operations{{"put_and_fence", PutAndFence},
                                                                  {"get", GetData},
                                                                  {"accumulate", AccumulateAndFence},
                                                                  {"rmw", ReadModifyWrite},
                                                                  {"lock_and_unlock", LockAndUnlock}};
  for (const auto& [name, operation] : operations) {
    for (Absence how : {Absence::kComputes, Absence::kSleeps, Absence::kReceives, Absence::kBarrier}) {
      AddTest({"PROG", std::string("PROG1_") + name + "_while_the_target_" + kAbsenceNames[static_cast<int>(how)],
               MakeSpec("PROG-1", "PROG-2", NeedsRanks(2)),
               [operation = operation, how] { OperateOnAbsent(operation, how); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterAll();

CLAUSE_TEST(PROG, PROG2_all_work_on_all_while_all_compute_in_turn, "PROG-2", "PROG-1", NeedsRanks(2)) {
  // Everyone is origin and target at once, and computes between its operations without calling the library.
  Region region(static_cast<std::size_t>(Np()) * 1024);
  Mutexes mutexes(1);
  volatile double work = 1;
  Sync();
  for (int round = 0; round < Scaled(300, 60); ++round) {
    const int target = (Me() + 1 + round) % Np();
    long value = round;
    long back = -1;
    char* slot = region.At(target, static_cast<std::size_t>(Me()) * 1024);
    EXPECT_EQ(ARMCI_Put(&value, slot, 8, target), 0);
    EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &back, slot, 1, target), 0);
    EXPECT_EQ(back, round);
    ARMCI_Lock(0, target);
    ARMCI_Unlock(0, target);
    for (int i = 0; i < 100000; ++i) work = work * 1.0000001;
  }
}

CLAUSE_TEST(PROG, PROG3_nonblocking_transfers_advance_while_the_origin_computes, "PROG-3", NeedsRanks(2)) {
  // The origin starts a large put and computes, calling nothing, until the target has seen the data arrive and put a
  // word into the origin's memory. A put that only moves inside library calls of the origin would never arrive.
  constexpr std::size_t kBytes = 4 << 20;
  Region region(kBytes + 64);
  Bytes source(kBytes, 'p');
  Sync();
  if (Me() == 0) {
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    EXPECT_EQ(ARMCI_NbPut(source.data(), region.At(1), static_cast<int>(kBytes), 1, &handle), 0);
    WaitUntil([&] { return LoadShared<long>(region.Mine() + kBytes) == 7; }, "the target to see the non-blocking put");
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
  } else if (Me() == 1) {
    WaitUntil(
        [&] { return LoadShared<char>(region.Mine() + kBytes - 1) == 'p' && LoadShared<char>(region.Mine()) == 'p'; },
        "the data of the non-blocking put");
    long seven = 7;
    EXPECT_EQ(ARMCI_Put(&seven, region.At(0, kBytes), 8, 0), 0);
  }
  Sync();
  if (Me() == 1) {
    EXPECT_TRUE(SameBytes(source.data(), region.Mine(), kBytes));
  }
}

CLAUSE_TEST(PROG, PROG4_polling_helps_at_most, "PROG-4") {
  Region region(4096);
  const int target = (Me() + 1) % Np();
  Sync();
  for (int round = 0; round < 200; ++round) {
    std::vector<long> source(64, round);
    std::vector<long> back(64, -1);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    EXPECT_EQ(ARMCI_NbPut(source.data(), region.At(target), 512, target, &handle), 0);
    // Some rounds poll, others do not; both complete.
    for (int poll = 0; poll < round % 3; ++poll) ARMCI_Poll();
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    ARMCI_Fence(target);
    if (round % 2 == 0) ARMCI_Poll();
    EXPECT_EQ(ARMCI_Get(region.At(target), back.data(), 512, target), 0);
    EXPECT_EQ(back, source);
  }
}

}  // namespace
}  // namespace conformance
