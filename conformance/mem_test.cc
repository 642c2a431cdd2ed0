// MEM: collective allocation, addresses, freeing.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

std::vector<void*> Pointers() { return std::vector<void*>(static_cast<std::size_t>(Np()), nullptr); }

CLAUSE_TEST(MEM, MEM1_all_processes_mean_the_same_memory, "MEM-1") {
  // Sizes differ; each process leaves its mark in its own place of every part, and all read all marks.
  const std::size_t mine = 64 * static_cast<std::size_t>(Np()) * (static_cast<std::size_t>(Me()) + 1);
  Region region(mine);
  for (int target = 0; target < Np(); ++target) {
    long mark = 1000L * Me() + target;
    EXPECT_EQ(ARMCI_Put(&mark, region.At(target, 64 * static_cast<std::size_t>(Me())), sizeof mark, target), 0);
  }
  Sync();
  for (int target = 0; target < Np(); ++target) {
    for (int origin = 0; origin < Np(); ++origin) {
      long mark = 0;
      EXPECT_EQ(ARMCI_Get(region.At(target, 64 * static_cast<std::size_t>(origin)), &mark, sizeof mark, target), 0);
      EXPECT_EQ(mark, 1000L * origin + target);
    }
  }
}

CLAUSE_TEST(MEM, MEM2_empty_parts_are_null_for_all, "MEM-2", "MEM-6") {
  for (int empty = 0; empty < Np(); ++empty) {
    std::vector<void*> ptr = Pointers();
    Agree();
    ASSERT_EQ(ARMCI_Malloc(ptr.data(), Me() == empty ? 0 : 128), 0);
    for (int p = 0; p < Np(); ++p) EXPECT_EQ(ptr[static_cast<std::size_t>(p)] == nullptr, p == empty) << "entry " << p;
    Agree();
    EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
  }
}

CLAUSE_TEST(MEM, MEM2_all_parts_empty, "MEM-2", "MEM-6", "MEM-12") {
  Region kept(64);
  for (int i = 0; i < 10; ++i) {
    std::vector<void*> ptr = Pointers();
    ptr[0] = &ptr;
    Agree();
    ASSERT_EQ(ARMCI_Malloc(ptr.data(), 0), 0);
    for (void* entry : ptr) EXPECT_EQ(entry, nullptr);
    Agree();
    EXPECT_EQ(ARMCI_Free(nullptr), 0);
  }
  int value = 3;
  EXPECT_EQ(ARMCI_Put(&value, kept.At(0), sizeof value, 0), 0) << "the other region is still there";
}

CLAUSE_TEST(MEM, MEM3_any_range_inside_a_region, "MEM-3") {
  constexpr std::size_t kBytes = 10007;
  Arena arena(kBytes);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (int i = 0; i < Scaled(500, 100); ++i) {
      const std::size_t from = MyRng().Below(kBytes);
      const Plan plan = ContiguousPlan(1 + MyRng().Below(kBytes - from));
      if (!CheckPut(&arena, plan, Mode::kBlocking, target, 0, from)) return;
      if (!CheckGet(&arena, plan, Mode::kBlocking, target, from, 0)) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(MEM, MEM4_direct_load_and_store_on_the_node, "MEM-4") {
  Region region(sizeof(long) * static_cast<std::size_t>(Np()));
  for (int p = 0; p < Np(); ++p) {
    if (SameNode(p)) StoreShared<long>(region.As<long>(p, static_cast<std::size_t>(Me())), 50L * Me() + p);
  }
  Sync();
  for (int origin = 0; origin < Np(); ++origin) {
    if (!SameNode(origin)) continue;
    EXPECT_EQ(LoadShared<long>(region.As<long>(Me(), static_cast<std::size_t>(origin))), 50L * origin + Me());
  }
  // And what a put brought can be loaded by every process of the target's node.
  Sync();
  long value = 9000 + Me();
  const int target = (Me() + 1) % Np();
  EXPECT_EQ(ARMCI_Put(&value, region.As<long>(target, 0), sizeof value, target), 0);
  Sync();
  for (int p = 0; p < Np(); ++p) {
    if (!SameNode(p)) continue;
    EXPECT_EQ(LoadShared<long>(region.As<long>(p, 0)), 9000 + (p + Np() - 1) % Np());
  }
}

CLAUSE_TEST(MEM, MEM4_atomic_instructions_of_many_processes, "MEM-4") {
  // Every rank adds to a word of every part on its node, without the library: as to memory of one process.
  Region region(64);
  const long times = Scaled(50000, 5000);
  long sharing = 0;
  Sync();
  for (int p = 0; p < Np(); ++p) {
    if (!SameNode(p)) continue;
    ++sharing;
    for (long i = 0; i < times; ++i) std::atomic_ref<long>(*region.As<long>(p)).fetch_add(1);
  }
  Sync();
  EXPECT_EQ(LoadShared<long>(region.Mine()), sharing * times);
}

CLAUSE_TEST(MEM, MEM5_bases_are_aligned_to_64_bytes, "MEM-5") {
  for (std::size_t bytes : {1u, 7u, 63u, 64u, 65u, 100u, 4095u, 4097u, 100000u}) {
    Region region(bytes + static_cast<std::size_t>(Me()));
    for (int p = 0; p < Np(); ++p) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.At(p)) % 64, 0u) << bytes << " bytes, entry " << p;
    }
  }
}

CLAUSE_TEST(MEM, MEM6_processes_agree_which_region_is_freed, "MEM-6", "MEM-2", NeedsRanks(2)) {
  // Rank 0 has memory in the first region only, rank 1 in the second only; others pass NULL either way. Freeing the
  // second must not touch the first, in any order of allocation.
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> first = Pointers();
    std::vector<void*> second = Pointers();
    Agree();
    ASSERT_EQ(ARMCI_Malloc(first.data(), Me() == 0 ? 4096 : 0), 0);
    ASSERT_EQ(ARMCI_Malloc(second.data(), Me() == 1 ? 4096 : 0), 0);
    long value = 77 + round;
    if (Me() == 1) {
      EXPECT_EQ(ARMCI_Put(&value, first[0], sizeof value, 0), 0);
    }
    Sync();
    EXPECT_EQ(ARMCI_Free(second[static_cast<std::size_t>(Me())]), 0);
    Sync();
    long back = 0;
    EXPECT_EQ(ARMCI_Get(first[0], &back, sizeof back, 0), 0) << "the first region must have survived";
    EXPECT_EQ(back, value);
    Sync();
    EXPECT_EQ(ARMCI_Free(first[static_cast<std::size_t>(Me())]), 0);
  }
}

CLAUSE_TEST(MEM, MEM7_regions_are_freed_in_any_order, "MEM-7") {
  std::vector<std::unique_ptr<Region>> regions;
  std::vector<long> marks;
  for (int step = 0; step < Rounds(400, 100); ++step) {
    const std::size_t bytes = 64 + SharedRng().Below(100000);
    regions.push_back(std::make_unique<Region>(bytes));
    marks.push_back(step);
    long mark = step;
    EXPECT_EQ(
        ARMCI_Put(&mark, regions.back()->At((Me() + 1) % Np(), 8 * (bytes / 8 - 1)), sizeof mark, (Me() + 1) % Np()),
        0);
    Sync();
    const std::size_t last = 8 * (regions.back()->bytes() / 8 - 1);
    EXPECT_EQ(LoadShared<long>(regions.back()->Mine() + last), step);
    if (regions.size() < 8) continue;
    const std::size_t victim = SharedRng().Below(regions.size());
    const std::size_t end = 8 * (regions[victim]->bytes() / 8 - 1);
    EXPECT_EQ(LoadShared<long>(regions[victim]->Mine() + end), marks[victim]) << "overwritten by a later region";
    regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(victim));
    marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(victim));
  }
}

void Cycle(std::size_t bytes) {
  std::vector<void*> ptr = Pointers();
  EXPECT_EQ(ARMCI_Malloc(ptr.data(), static_cast<armci_size_t>(bytes)), 0);
  // Touch it, so that memory that is not given back shows.
  if (ptr[static_cast<std::size_t>(Me())] != nullptr) std::memset(ptr[static_cast<std::size_t>(Me())], 1, bytes);
  EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
}

CLAUSE_TEST(MEM, MEM7_cycles_do_not_grow_the_process, "MEM-7", DeadlineSeconds(180)) {
  Agree();
  const int cycles = Rounds(100000, 3000);
  for (int i = 0; i < std::min(500, cycles); ++i) Cycle(SharedRng().Below(32768));
  Agree();
  const ProcessState before = ReadProcessState();
  for (int i = 0; i < cycles && !::testing::Test::HasFailure(); i += 500) {
    for (int j = 0; j < std::min(500, cycles); ++j) Cycle(SharedRng().Below(32768));
    Agree();
  }
  const ProcessState after = ReadProcessState();
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.mappings, before.mappings + 16);
  EXPECT_LE(after.shared_mapped_bytes, before.shared_mapped_bytes + (8 << 20));
  // A leak of 100 bytes per cycle would be 10 MB in the full run.
  EXPECT_LE(after.resident_bytes, before.resident_bytes + (4 << 20)) << "after " << cycles << " cycles";
}

CLAUSE_TEST(MEM, MEM8_more_than_there_is_fails_for_all_alike, "MEM-8", "ERR-1") {
  Region kept(4096);
  long value = 4711;
  EXPECT_EQ(ARMCI_Put(&value, kept.At((Me() + 1) % Np()), sizeof value, (Me() + 1) % Np()), 0);
  Sync();
  // One process asks for too much, the others for little: all must learn of it.
  for (int greedy = 0; greedy < Np(); ++greedy) {
    std::vector<void*> ptr = Pointers();
    const armci_size_t bytes = Me() == greedy ? armci_size_t{1} << 50 : 64;
    EXPECT_NE(ARMCI_Malloc(ptr.data(), bytes), 0) << "2^50 bytes on rank " << greedy;
    Agree();
  }
  EXPECT_EQ(LoadShared<long>(kept.Mine()), 4711);
  Region later(4096);
  EXPECT_EQ(ARMCI_Put(&value, later.At((Me() + 1) % Np()), sizeof value, (Me() + 1) % Np()), 0);
  Sync();
  EXPECT_EQ(LoadShared<long>(later.Mine()), 4711) << "allocation works as before";
}

}  // namespace
}  // namespace conformance
