// XFER: contiguous put and get of every size and alignment.

#include <algorithm>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Both sides of places where implementations like to change the way of moving data.
const std::vector<std::size_t>& TableSizes() {
  static const std::vector<std::size_t> sizes{1,    3,    4,    7,    8,    9,     15,    16,    17,    31,   32,
                                              33,   63,   64,   65,   127,  128,   129,   255,   256,   257,  1023,
                                              1024, 1025, 4095, 4096, 4097, 16383, 16384, 65535, 65536, 65537};
  return sizes;
}

CLAUSE_TEST(XFER, XFER2_every_size_to_4_KiB, "XFER-2", "XFER-1", "XFER-4", DeadlineSeconds(60)) {
  Arena arena(4096 + 3 * kGuard);
  const std::size_t step = Scaled<std::size_t>(1, 13);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t bytes = 0; bytes <= 4096; bytes += step) {
      const Plan plan = ContiguousPlan(bytes);
      const std::size_t src_shift = kGuard + MyRng().Below(64);
      const std::size_t dst_shift = kGuard + MyRng().Below(64);
      if (!CheckPut(&arena, plan, Mode::kBlocking, target, src_shift, dst_shift)) return;
      if (!CheckGet(&arena, plan, Mode::kBlocking, target, src_shift, dst_shift)) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER2_every_pair_of_alignments, "XFER-2", "XFER-1", DeadlineSeconds(60)) {
  Arena arena(1024);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    const std::size_t step = Scaled<std::size_t>(1, 5);
    for (std::size_t src = 0; src < 64; src += step) {
      for (std::size_t dst = 0; dst < 64; ++dst) {
        const Plan plan = ContiguousPlan(1 + MyRng().Below(600));
        if (!CheckPut(&arena, plan, Mode::kBlocking, target, kGuard + src, kGuard + dst)) return;
        if (!CheckGet(&arena, plan, Mode::kBlocking, target, kGuard + dst, kGuard + src)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER4_table_of_sizes_modes_and_targets, "XFER-4", "XFER-1", "XFER-2", "CMPL-2", DeadlineSeconds(60)) {
  Arena arena(65537 + 3 * kGuard);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t bytes : TableSizes()) {
      const Plan plan = ContiguousPlan(bytes);
      for (Mode mode : kModes) {
        const std::size_t shift = kGuard + MyRng().Below(64);
        if (!CheckPut(&arena, plan, mode, target, kGuard, shift)) return;
        if (!CheckGet(&arena, plan, mode, target, shift, kGuard)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER2_powers_of_two_and_neighbours_to_64_MiB, "XFER-2", "XFER-1", DeadlineSeconds(120)) {
  const int largest = Scaled(26, 20);
  // The largest sizes travel from rank 0 only: memory and time are shared by all ranks of a machine.
  const std::size_t limit = std::size_t{1} << (Me() == 0 ? largest : std::min(largest, 20));
  Arena arena((std::size_t{1} << 20) + 1 + 3 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (std::size_t power = 13; power <= 20; ++power) {
      for (int delta = -1; delta <= 1; ++delta) {
        const Plan plan = ContiguousPlan((std::size_t{1} << power) + static_cast<std::size_t>(delta));
        const std::size_t shift = kGuard + MyRng().Below(64);
        if (!CheckPut(&arena, plan, Mode::kBlocking, target, shift, kGuard + MyRng().Below(64))) return;
        if (!CheckGet(&arena, plan, Mode::kBlocking, target, kGuard, shift)) return;
      }
    }
  }
  arena.VerifyByOwners();

  Region big(Me() == Np() - 1 ? (std::size_t{1} << largest) + 1 + 2 * kGuard : 64);
  const int owner = Np() - 1;
  for (std::size_t bytes = std::size_t{1} << 21; bytes <= limit; bytes *= 2) {
    for (std::size_t size : {bytes - 1, bytes, bytes + 1}) {
      Bytes out(size + 2 * kGuard);
      MyRng().Fill(out.data(), out.size());
      Bytes back(size + 2 * kGuard, 0);
      Bytes expected = back;
      std::copy_n(out.begin() + kGuard, size, expected.begin() + kGuard);
      const int whole = static_cast<int>(size + 2 * kGuard);
      EXPECT_EQ(ARMCI_Put(back.data(), big.At(owner), whole, owner), 0);
      EXPECT_EQ(ARMCI_Put(out.data() + kGuard, big.At(owner, kGuard), static_cast<int>(size), owner), 0);
      EXPECT_EQ(ARMCI_Get(big.At(owner), back.data(), whole, owner), 0);
      EXPECT_TRUE(SameBytes(expected.data(), back.data(), back.size())) << size << " bytes" << SeedText();
    }
  }
}

CLAUSE_TEST(XFER, XFER1_last_and_first_byte_of_a_region, "XFER-1", "MEM-3") {
  // Neighbouring regions would show a write beyond the end of this one.
  Region before(4096);
  Region middle(4096);
  Region after(4096);
  char first = 'a';
  char last = 'z';
  for (int target : TableTargets()) {
    EXPECT_EQ(ARMCI_Put(&first, middle.At(target), 1, target), 0);
    EXPECT_EQ(ARMCI_Put(&last, middle.At(target, 4095), 1, target), 0);
  }
  Sync();
  Bytes expected(4096, 0);
  EXPECT_TRUE(SameBytes(expected.data(), before.Mine(), 4096));
  EXPECT_TRUE(SameBytes(expected.data(), after.Mine(), 4096));
  expected.front() = 'a';
  expected.back() = 'z';
  EXPECT_TRUE(SameBytes(expected.data(), middle.Mine(), 4096));
}

}  // namespace
}  // namespace conformance
