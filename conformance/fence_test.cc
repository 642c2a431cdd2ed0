// FENCE: remote completion and what may be read afterwards.

#include <unistd.h>

#include <memory>
#include <vector>

#include "conformance/harness/own_core.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kSizes[] = {8, 512, 20000, 300000};

// Rank 0 stores in `mode` to `target`, fences, and tells all ranks; each then reads by get, on the node also by load.
void FenceThenAllRanksRead(Mode mode, Shape shape, std::size_t bytes, int target, bool wait_first, Region* region) {
  const Plan plan = PlanOfSize(shape, bytes, 8);
  Bytes image(static_cast<std::size_t>(plan.DstEnd()), 0);
  Bytes source(static_cast<std::size_t>(plan.SrcEnd()));
  SharedRng().Fill(source.data(), source.size());
  ModelCopy(plan, source.data(), image.data());
  if (Me() == 0) {
    // Old content that a reader must not see.
    Bytes old(image.size(), 0);
    EXPECT_EQ(ARMCI_Put(old.data(), region->At(target), static_cast<int>(old.size()), target), 0);
    ARMCI_Fence(target);
    Transfer transfer(plan, Op::kPut, mode);
    EXPECT_EQ(transfer.Start(source.data(), region->At(target), target), 0);
    int waited = wait_first ? transfer.Wait() : 0;
    ARMCI_Fence(target);
    for (int p = 1; p < Np(); ++p) MPI_Send(nullptr, 0, MPI_INT, p, 1, Comm());
    // The readers are done before the origin calls again: only the fence can have completed the store.
    for (int p = 1; p < Np(); ++p) MPI_Recv(nullptr, 0, MPI_INT, p, 2, Comm(), MPI_STATUS_IGNORE);
    if (!wait_first) waited = transfer.Wait();
    EXPECT_EQ(waited, 0);
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 1, Comm(), MPI_STATUS_IGNORE);
  }
  const std::string text = std::string(NameOf(mode)) + " " + plan.Text() + " to " + std::to_string(target);
  if (SameNode(target)) {
    EXPECT_TRUE(SameBytes(image.data(), region->At(target), image.size())) << "by load after " << text << SeedText();
  }
  Bytes back(image.size());
  EXPECT_EQ(ARMCI_Get(region->At(target), back.data(), static_cast<int>(back.size()), target), 0);
  EXPECT_TRUE(SameBytes(image.data(), back.data(), back.size())) << "by get after " << text << SeedText();
  if (Me() != 0) MPI_Send(nullptr, 0, MPI_INT, 0, 2, Comm());
}

CLAUSE_TEST(FENCE, FENCE1_every_kind_of_store_is_visible_after_the_fence, "FENCE-1", "CMPL-7", DeadlineSeconds(60)) {
  Region region(1 << 20);
  for (std::size_t bytes : kSizes) {
    for (Shape shape : kShapes) {
      for (Mode mode : kModes) {
        for (bool wait_first : {true, false}) {
          FenceThenAllRanksRead(mode, shape, bytes,
                                static_cast<int>(SharedRng().Below(static_cast<std::uint64_t>(Np()))), wait_first,
                                &region);
          Sync();
        }
      }
    }
  }
}

// Stores to memory that no cache of the core holds. x86 commits stores in order, so a store behind these stays in the
// store buffer while their lines are fetched. A later load overtakes it unless a fence orders it.
class SlowStores {
 public:
  SlowStores() : memory_(kBytes, 1) {}
  void Store() {
    for (int i = 0; i < 4; ++i) {
      at_ = (at_ + kStride) % kBytes;
      *static_cast<volatile char*>(&memory_[at_]) = 2;
    }
  }

 private:
  static constexpr std::size_t kBytes = 64 << 20;
  // A whole number of lines, and no two on one page.
  static constexpr std::size_t kStride = 65 * 64;
  std::size_t at_ = 0;
  Bytes memory_;
};

// Store buffering: both put, fence, then read the other's word. With fences at least one must see the other's put.
// Reading by load happens where the word read is on the reader's node; by get everywhere.
void StoreBuffering(bool by_load, bool value_put, bool own_side) {
  const int rounds = Scaled(50000, 5000);
  Region region(2 * 128);
  const int other = 1 - Me();
  // own_side: each writes the other's memory and reads its own; otherwise each writes its own and reads the other's.
  const int write_at = own_side ? other : Me();
  const int read_at = own_side ? Me() : other;
  long both_old = 0;
  const OwnCore core(Me(), 2);
  Gate gate({0, 1}, core.close_looks());
  Sync();
  if (Me() < 2) {
    SlowStores slow_stores;
    long* write_word = region.As<long>(write_at, static_cast<std::size_t>(16 * Me()));
    long* read_word = region.As<long>(read_at, static_cast<std::size_t>(16 * other));
    // A round that does not run leaves the value `rounds`, which passes.
    std::vector<long> seen(static_cast<std::size_t>(rounds), rounds);
    for (long round = 1; round <= rounds; ++round) {
      if (!gate.Meet(round)) break;
      for (std::uint64_t spin = MyRng().Below(300); spin > 0; --spin) __asm__ volatile("");
      slow_stores.Store();
      if (value_put) {
        ARMCI_PutValueLong(round, write_word, write_at);
      } else {
        ARMCI_Put(&round, write_word, 8, write_at);
      }
      ARMCI_Fence(write_at);
      long value = -1;
      if (by_load) {
        value = std::atomic_ref<long>(*read_word).load(std::memory_order_relaxed);
      } else {
        ARMCI_Get(read_word, &value, 8, read_at);
      }
      seen[static_cast<std::size_t>(round - 1)] = value;
    }
    std::vector<long> theirs(seen.size());
    MPI_Sendrecv(seen.data(), rounds, MPI_LONG, other, 3, theirs.data(), rounds, MPI_LONG, other, 3, Comm(),
                 MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const long round = static_cast<long>(i) + 1;
      both_old += seen[i] < round && theirs[i] < round;
    }
    EXPECT_EQ(both_old, 0) << "of " << rounds << " rounds in which neither saw the other's fenced put" << SeedText();
  }
  Agree();
}

CLAUSE_TEST(FENCE, FENCE1_store_buffering_by_get_is_forbidden, "FENCE-1", NeedsRanks(2), DeadlineSeconds(90)) {
  for (bool own_side : {false, true}) StoreBuffering(false, false, own_side);
}

CLAUSE_TEST(FENCE, FENCE1_store_buffering_by_load_is_forbidden, "FENCE-1", NeedsRanks(2), DeadlineSeconds(90)) {
  if (!AllAgreeOn(Me() > 1 || SameNode(1 - Me()))) SkipTest("needs ranks 0 and 1 on one node");
  for (bool value_put : {false, true}) {
    for (bool own_side : {false, true}) StoreBuffering(true, value_put, own_side);
  }
}

CLAUSE_TEST(FENCE, FENCE2_allfence_reaches_all_targets, "FENCE-2") {
  constexpr std::size_t kBytes = 40000;
  Region region(static_cast<std::size_t>(Np()) * kBytes);
  for (int round = 1; round <= Rounds(40, 10); ++round) {
    // Short ones may be coalesced.
    const std::size_t bytes = round % 2 == 0 ? kBytes : 16;
    for (int origin = 0; origin < Np(); ++origin) {
      if (Me() == origin) {
        Bytes out(bytes, static_cast<char>(round));
        for (int target = 0; target < Np(); ++target) {
          EXPECT_EQ(ARMCI_NbPut(out.data(), region.At(target, static_cast<std::size_t>(origin) * kBytes),
                                static_cast<int>(bytes), target, nullptr),
                    0);
        }
        ARMCI_AllFence();
      }
      Agree();
      const char* mine = region.Mine() + static_cast<std::size_t>(origin) * kBytes;
      const Bytes expected(bytes, static_cast<char>(round));
      EXPECT_TRUE(SameBytes(expected.data(), mine, bytes)) << "round " << round << " from " << origin;
    }
    Agree();
  }
}

CLAUSE_TEST(FENCE, FENCE3_needs_no_action_by_the_target, "FENCE-3", "PROG-1", NeedsRanks(2)) {
  Region region(1 << 18);
  Sync();
  if (Me() == 0) {
    Bytes out(1 << 17);
    MyRng().Fill(out.data(), out.size());
    for (int target = 1; target < Np(); ++target) {
      for (Mode mode : kModes) {
        EXPECT_EQ(Move(PlanOfSize(Shape::kStrided, 1 << 16, 8), Op::kPut, mode, out.data(), region.At(target), target),
                  0);
        ARMCI_Fence(target);
      }
      ARMCI_AllFence();
      long done = 1;
      EXPECT_EQ(ARMCI_Put(&done, region.At(target, (1 << 18) - 8), 8, target), 0);
      ARMCI_Fence(target);
    }
  } else {
    // Sleeps in the kernel and makes no call until the origin's last put is there.
    long* done = reinterpret_cast<long*>(region.Mine() + (1 << 18) - 8);
    WaitUntil(
        [&] {
          usleep(2000);
          return LoadShared<long>(done) == 1;
        },
        "the origin to get past its fences");
  }
}

CLAUSE_TEST(FENCE, FENCE4_barrier_makes_all_stores_visible_to_all, "FENCE-4", DeadlineSeconds(60)) {
  constexpr int kElements = 3000;
  const std::size_t slot = kElements * 8;
  Region region(static_cast<std::size_t>(Np()) * slot);
  std::vector<long> out(kElements);
  std::vector<long> back(kElements);
  for (long round = 1; round <= Rounds(150, 40); ++round) {
    std::fill(out.begin(), out.end(), 1000 * round + Me());
    for (int target = 0; target < Np(); ++target) {
      char* to = region.At(target, static_cast<std::size_t>(Me()) * slot);
      const Mode mode = kModes[SharedRng().Below(3)];
      EXPECT_EQ(Move(ContiguousPlan(slot), Op::kPut, mode, reinterpret_cast<char*>(out.data()), to, target), 0);
    }
    // The raw barrier, without the harness's meeting before it: slow ranks must hold up the fast ones.
    if (Me() == round % Np()) usleep(200);
    ARMCI_Barrier();
    for (int origin = 0; origin < Np(); ++origin) {
      const std::vector<long> expected(kElements, 1000 * round + origin);
      const char* mine = region.Mine() + static_cast<std::size_t>(origin) * slot;
      EXPECT_TRUE(SameBytes(reinterpret_cast<const char*>(expected.data()), mine, slot)) << "by load, round " << round;
      const int target = static_cast<int>((Me() + round) % Np());
      EXPECT_EQ(ARMCI_Get(region.At(target, static_cast<std::size_t>(origin) * slot), back.data(),
                          static_cast<int>(slot), target),
                0);
      EXPECT_EQ(back == expected, true) << "by get, round " << round << ", written by " << origin;
    }
    ARMCI_Barrier();
  }
}

CLAUSE_TEST(FENCE, FENCE5_group_fence_and_group_barrier, "FENCE-5", NeedsRanks(2)) {
  // The group leaves out the last rank, which takes part in nothing.
  std::vector<int> members;
  for (int p = 0; p + 1 < Np(); ++p) members.push_back(p);
  Region region(static_cast<std::size_t>(Np()) * 8);
  ARMCI_Group group;
  ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
  if (Me() + 1 < Np()) {
    for (long round = 1; round <= Rounds(300, 100); ++round) {
      for (int target : members) {
        long value = 10 * round + Me();
        EXPECT_EQ(ARMCI_NbPut(&value, region.As<long>(target, static_cast<std::size_t>(Me())), 8, target, nullptr), 0);
        EXPECT_EQ(ARMCI_WaitProc(target), 0);
      }
      ARMCI_GroupFence(&group);
      armci_msg_group_barrier(&group);
      for (int origin : members) {
        EXPECT_EQ(LoadShared<long>(region.As<long>(Me(), static_cast<std::size_t>(origin))), 10 * round + origin);
      }
      armci_msg_group_barrier(&group);
    }
    ARMCI_Group_free(&group);
  }
  Agree();
}

CLAUSE_TEST(FENCE, FENCE6_nothing_outstanding, "FENCE-6") {
  Agree();
  for (int i = 0; i < 1000; ++i) {
    ARMCI_Fence(Me());
    ARMCI_Fence((Me() + 1) % Np());
    ARMCI_AllFence();
  }
  Region region(64);
  long value = 12;
  EXPECT_EQ(ARMCI_Put(&value, region.At(Me()), 8, Me()), 0);
  ARMCI_Fence(Me());
  EXPECT_EQ(LoadShared<long>(region.Mine()), 12) << "fence to oneself";
  if (Me() == 0) {
    // A fence by one process alone must not wait for the others.
    ARMCI_AllFence();
    ARMCI_Fence(Np() - 1);
    for (int p = 1; p < Np(); ++p) MPI_Send(nullptr, 0, MPI_INT, p, 6, Comm());
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 6, Comm(), MPI_STATUS_IGNORE);
  }
}

}  // namespace
}  // namespace conformance
