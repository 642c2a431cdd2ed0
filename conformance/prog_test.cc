// PROG: one-sided calls complete while the target does something else.
//
// The absence of the target ends only when the origin, having completed its operations, says so by one more put (or by
// the message the target waits for). If an operation needed the target, neither would move, and the test's own limit
// reports it. Nothing here measures time.

#include <unistd.h>

#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

enum class Absence { kComputes, kSleeps, kReceives, kBarrier };
constexpr const char* kAbsenceNames[] = {"computes", "sleeps", "sits_in_receive", "sits_in_barrier"};

// More than a library sends with its request or keeps a buffer for, and a slot that holds it with its holes.
constexpr std::size_t kLargeBytes = 500000;
constexpr std::size_t kLargeSlot = 1 << 20;
constexpr std::size_t kDoneOffset = 64;

// The memory of the operations; the slots are checked byte by byte.
struct Ground {
  Arena table{kModestExtent + 2 * kGuard};
  Arena large{kLargeSlot};
  Region words{128};
  Mutexes mutexes{1};
};

// The operation of the origin on an absent target, completed remotely where it stores, and the step of the target when
// it is back (or nothing).
struct Operation {
  const char* name;
  std::function<void(Ground*, int)> act;
  std::function<void(const Ground&)> when_back;
};

bool CheckWay(Arena* arena, const Way& way, std::size_t bytes, int target) {
  const Plan plan = PlanOf(way, bytes);
  switch (way.op) {
    case Op::kPut:
      return CheckPut(arena, plan, way.mode, target, kGuard, kGuard, way.width);
    case Op::kGet:
      return CheckGet(arena, plan, way.mode, target, kGuard, kGuard, way.width);
    default:
      return CheckAcc(arena, plan, way.mode, target, kTableType, kGuard, kGuard, way.width);
  }
}

// Each way of an operation, with its data compared: for that too the origin needs no other process. The quick run takes
// one size of each, by the seed.
void EveryWay(Op op, Ground* ground, int target) {
  const AccType* type = op == Op::kAcc ? &kTableType : nullptr;
  ground->table.Refill(&MyRng(), target, type);
  for (const Way& way : WaysThat([=](const Way& each) { return each.op == op; })) {
    std::vector<std::size_t> sizes = ModestSizesOf(way);
    MyRng().Shuffle(&sizes);
    if (Quick()) sizes.resize(1);
    for (std::size_t bytes : sizes) {
      if (!CheckWay(&ground->table, way, bytes, target)) return;
    }
  }
  ground->large.Refill(&MyRng(), target, type);
  for (Shape shape : kShapes) {
    const Mode mode = kModes[MyRng().Below(std::size(kModes))];
    if (!CheckWay(&ground->large, {op, shape, mode}, kLargeBytes, target)) return;
  }
}

// The flag is the first word of the slot. The results of the calls are judged with ORD-5.
void PutsWithFlag(Ground* ground, int target) {
  Arena& arena = ground->table;
  int* flag = reinterpret_cast<int*>(arena.Slot(target));
  char* to = arena.Slot(target) + kGuard;
  for (int value = 1; value <= 2; ++value) {
    Plan plan = PlanOfSize(value == 1 ? Shape::kContiguous : Shape::kStrided, 4096, 8);
    Bytes source(static_cast<std::size_t>(plan.SrcEnd()));
    MyRng().Fill(source.data(), source.size());
    ModelCopy(plan, source.data(), arena.Image(target) + kGuard);
    std::memcpy(arena.Image(target), &value, sizeof value);
    if (value == 1) {
      ARMCI_Put_flag(source.data(), to, plan.count[0], flag, value, target);
    } else {
      ARMCI_PutS_flag(source.data(), plan.src_stride.data(), to, plan.dst_stride.data(), plan.count.data(),
                      static_cast<int>(plan.src_stride.size()), flag, value, target);
    }
    if (!arena.Verify(target, "put with flag: " + plan.Text() + SeedText())) return;
  }
}

void PutAndFence(Ground* ground, int target) {
  EveryWay(Op::kPut, ground, target);
  PutsWithFlag(ground, target);
}

void GetData(Ground* ground, int target) { EveryWay(Op::kGet, ground, target); }

void AccumulateAndFence(Ground* ground, int target) {
  for (const AccType& type : kAccTypes) {
    ground->table.Refill(&MyRng(), target, &type);
    for (std::size_t elements : {1u, 1000u}) {
      const Plan plan = ContiguousPlan(elements * type.bytes);
      if (!CheckAcc(&ground->table, plan, Mode::kBlocking, target, type, kGuard, kGuard)) return;
    }
  }
  EveryWay(Op::kAcc, ground, target);
}

// A notification without its wait: that comes when the target is back, and finds the store there.
void StoreAndNotify(Ground* ground, int target) {
  EXPECT_EQ(ARMCI_PutValueLong(7, ground->words.At(target), target), 0);
  EXPECT_EQ(armci_notify(target), 0);
}

void ReadModifyWrite(Ground* ground, int target) {
  const Region& words = ground->words;
  EXPECT_EQ(ARMCI_PutValueInt(100, words.At(target), target), 0);
  EXPECT_EQ(ARMCI_PutValueLong(-1, words.At(target, 8), target), 0);
  for (int i = 0; i < 50; ++i) {
    int value = -1;
    long wide = i;
    EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &value, words.At(target), 1, target), 0);
    EXPECT_EQ(value, 100 + i);
    EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &wide, words.At(target, 8), 0, target), 0);
    EXPECT_EQ(wide, i - 1);
  }
}

void LockAndUnlock(Ground*, int target) {
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
  if (operation.when_back && !HasOwnInterface())
    SkipTest("our headers alone promise that a notification needs no action of the target");
  Ground ground;
  for (int round = 0; round < Scaled(3, 1); ++round) {
    StoreShared<long>(ground.words.Mine() + kDoneOffset, 0);
    Sync();
    if (Me() == 0) {
      for (int target = 1; target < Np(); ++target) operation.act(&ground, target);
      EndAbsence(how, ground.words);
    } else {
      BeAbsent(how, ground.words, 0);
      if (operation.when_back) operation.when_back(ground);
    }
    ground.table.VerifyByOwners();
    ground.large.VerifyByOwners();
  }
}

bool RegisterAll() {
  const auto find_the_store = [](const Ground& ground) {
    int count = 0;
    EXPECT_EQ(armci_notify_wait(0, &count), 0);
    EXPECT_EQ(LoadShared<long>(ground.words.Mine()), 7);
  };
  const std::vector<Operation> operations{
      {"put_and_fence", PutAndFence, {}},     {"get", GetData, {}},
      {"accumulate", AccumulateAndFence, {}}, {"rmw", ReadModifyWrite, {}},
      {"lock_and_unlock", LockAndUnlock, {}}, {"store_and_notify", StoreAndNotify, find_the_store}};
  for (const Operation& operation : operations) {
    for (Absence how : {Absence::kComputes, Absence::kSleeps, Absence::kReceives, Absence::kBarrier}) {
      TestSpec spec = MakeSpec("PROG-1", "PROG-2", NeedsRanks(2));
      if (operation.when_back) spec.clauses.emplace_back("ORD-6");
      const std::string name =
          std::string("PROG1_") + operation.name + "_while_the_target_" + kAbsenceNames[static_cast<int>(how)];
      AddTest({"PROG", name, spec, [=] { OperateOnAbsent(operation, how); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterAll();

CLAUSE_TEST(PROG, PROG2_all_work_on_all_while_all_compute_in_turn, "PROG-2", "PROG-1", NeedsRanks(2)) {
  // Every rank is origin and target at once, and computes between its operations without calling the library.
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

void PutsWithAndWithoutPolling(char* slot, int target) {
  for (int round = 0; round < 200; ++round) {
    std::vector<long> source(64, round);
    std::vector<long> back(64, -1);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    EXPECT_EQ(ARMCI_NbPut(source.data(), slot, 512, target, &handle), 0);
    // Some rounds poll, others do not; both complete.
    for (int poll = 0; poll < round % 3; ++poll) ARMCI_Poll();
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    ARMCI_Fence(target);
    if (round % 2 == 0) ARMCI_Poll();
    EXPECT_EQ(ARMCI_Get(slot, back.data(), 512, target), 0);
    EXPECT_EQ(back, source);
  }
}

CLAUSE_TEST(PROG, PROG4_polling_helps_at_most, "PROG-4") {
  Region region(512 * static_cast<std::size_t>(Np()));
  Sync();
  for (int target : TableTargets()) {
    PutsWithAndWithoutPolling(region.At(target, 512 * static_cast<std::size_t>(Me())), target);
  }
}

}  // namespace
}  // namespace conformance
