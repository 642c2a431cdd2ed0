// FENCE-1: a third process on the target's node loads what the origin has fenced, while the target makes no call.

#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kExtent = 1 << 16;
constexpr std::size_t kDoneAt = 2 * kExtent;
constexpr std::size_t kOtherAt = kDoneAt + 64;
constexpr std::size_t kRegionBytes = kOtherAt + 64;

// The last rank is the target. -1: no other process can load its memory.
int ObserverOf(int target) {
  const int node = armci_domain_id(ARMCI_DOMAIN_SMP, target);
  for (int p = 1; p < Np(); ++p) {
    if (p != target && armci_domain_id(ARMCI_DOMAIN_SMP, p) == node) return p;
  }
  return -1;
}

// One store, and a get on the way when the store is issued, whose reply must not pass for its completion.
struct Case {
  Op op;
  Mode mode;
  Shape shape;
  std::size_t bytes;
  bool all;  // AllFence

  std::string Text() const {
    return std::string(op == Op::kAcc ? "accumulate " : "put ") + NameOf(mode) + " " +
           PlanOfSize(shape, bytes, 8).Text() + (all ? ", AllFence" : ", Fence") + SeedText();
  }
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (std::size_t bytes : {std::size_t{8}, std::size_t{512}, std::size_t{20000}}) {
    for (Op op : {Op::kPut, Op::kAcc}) {
      for (Shape shape : kShapes) {
        for (Mode mode : kModes) cases.push_back({op, mode, shape, bytes, SharedRng().Chance(1, 2)});
      }
    }
  }
  return cases;
}

// The target's memory after the store of the integers `source` to memory that holds `old`.
Bytes Expected(const Case& one, const Plan& plan, const Bytes& source, const Bytes& old) {
  Bytes image = old;
  constexpr long kOne = 1;
  if (one.op == Op::kAcc) {
    ModelAcc(plan, kAccTypes[1], &kOne, source.data(), image.data());
  } else {
    ModelCopy(plan, source.data(), image.data());
  }
  return image;
}

void StoreAndFence(const Case& one, const Plan& plan, Bytes* source, int target, Region* region) {
  Bytes back(kExtent);
  armci_hdl_t got;
  ARMCI_INIT_HANDLE(&got);
  EXPECT_EQ(ARMCI_NbGet(region->At(target, kExtent), back.data(), kExtent / 2, target, &got), 0);
  // Stores to several targets: an AllFence for one target may be a fence.
  for (int p = 1; one.all && p < target; ++p) {
    EXPECT_EQ(ARMCI_PutValueLong(1, region->As<long>(p, kOtherAt / 8), p), 0);
  }
  Transfer transfer(plan, one.op, one.mode);
  constexpr long kOne = 1;
  Scale scale{};
  std::memcpy(&scale, &kOne, sizeof kOne);
  if (one.op == Op::kAcc) transfer.SetAcc(kAccTypes[1], scale);
  EXPECT_EQ(transfer.Start(source->data(), region->At(target), target), 0) << one.Text();
  if (one.all) {
    ARMCI_AllFence();
  } else {
    ARMCI_Fence(target);
  }
  const int observer = ObserverOf(target);
  MPI_Send(nullptr, 0, MPI_INT, observer, 1, Comm());
  // The origin makes no call before the observer has looked: only the fence can have completed the store.
  MPI_Recv(nullptr, 0, MPI_INT, observer, 2, Comm(), MPI_STATUS_IGNORE);
  EXPECT_EQ(transfer.Wait(), 0);
  EXPECT_EQ(ARMCI_Wait(&got), 0);
}

CLAUSE_TEST(FENCE, FENCE1_an_observer_loads_while_the_target_makes_no_call, "FENCE-1", "FENCE-2", "FENCE-3",
            NeedsRanks(3), DeadlineSeconds(90)) {
  Region region(kRegionBytes);
  const int target = Np() - 1;
  const int observer = ObserverOf(target);
  if (observer < 0) return;
  char* const done = region.At(target, kDoneAt);
  long number = 0;
  for (const Case& one : AllCases()) {
    ++number;
    const Plan plan = PlanOfSize(one.shape, one.bytes, 8);
    std::vector<long> words(static_cast<std::size_t>(plan.SrcEnd()) / 8 + 1, number);
    Bytes source(words.size() * 8);
    std::memcpy(source.data(), words.data(), source.size());
    const Bytes old(static_cast<std::size_t>(plan.DstEnd()), 0);
    if (Me() == target) std::memset(region.Mine(), 0, kExtent);
    Sync();
    if (Me() == 0) {
      StoreAndFence(one, plan, &source, target, &region);
    } else if (Me() == observer) {
      MPI_Recv(nullptr, 0, MPI_INT, 0, 1, Comm(), MPI_STATUS_IGNORE);
      const Bytes image = Expected(one, plan, source, old);
      EXPECT_TRUE(SameBytes(image.data(), region.At(target), image.size())) << one.Text();
      StoreShared<long>(done, number);
      MPI_Send(nullptr, 0, MPI_INT, 0, 2, Comm());
    } else if (Me() == target) {
      WaitUntil(
          [&] {
            usleep(200);  // no call of the library or of MPI, and the core is free for the others
            return LoadShared<long>(done) == number;
          },
          "the observer to have looked");
    }
    Sync();
  }
}

}  // namespace
}  // namespace conformance
