// MEM-13 to MEM-16: named kinds of memory, the non-collective allocator, questions and hints, local copies.

#include <climits>
#include <string>
#include <vector>

#include "conformance/harness/capture.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

std::vector<void*> Pointers() { return std::vector<void*>(static_cast<std::size_t>(Np()), nullptr); }

// Every rank puts into its right neighbour's part and finds its left neighbour's value.
void UseRegion(const std::vector<void*>& ptr, long tag) {
  const int right = (Me() + 1) % Np();
  EXPECT_EQ(ARMCI_PutValueLong(tag + Me(), ptr[static_cast<std::size_t>(right)], right), 0);
  Sync();
  EXPECT_EQ(LoadShared<long>(ptr[static_cast<std::size_t>(Me())]), tag + (Me() + Np() - 1) % Np());
  Sync();
}

CLAUSE_TEST(MEM, MEM13_named_kinds_of_memory, "MEM-13") {
  // NULL is the default; an unknown name gives the default with one warning, however often a program uses it.
  const char* unknown = "a kind of memory that no machine has";
  int warnings = 0;
  for (int round = 0; round < 3; ++round) {
    for (const char* device : {static_cast<const char*>(nullptr), unknown}) {
      std::vector<void*> ptr = Pointers();
      Agree();
      int code = 0;
      {
        CapturedStderr capture;
        code = ARMCI_Malloc_memdev(ptr.data(), 256, device);
        for (const std::string& line : capture.Lines()) warnings += line.find(unknown) != std::string::npos;
      }
      ASSERT_EQ(code, 0);
      UseRegion(ptr, 10 * round);
      EXPECT_EQ(ARMCI_Free_memdev(ptr[static_cast<std::size_t>(Me())]), 0);
    }
  }
  EXPECT_GE(SumOverRanks(warnings), 1);
  EXPECT_LE(warnings, 1) << "one warning per name";
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (const char* device : {static_cast<const char*>(nullptr), unknown, "another one"}) {
    std::vector<void*> ptr = Pointers();
    Agree();
    int code = 0;
    {
      CapturedStderr capture;
      code = ARMCI_Malloc_group_memdev(ptr.data(), 256, &world, device);
    }
    ASSERT_EQ(code, 0);
    UseRegion(ptr, 77);
    EXPECT_EQ(ARMCI_Free_group(ptr[static_cast<std::size_t>(Me())], &world), 0);
  }
}

CLAUSE_TEST(MEM, MEM14_memget_is_not_collective, "MEM-14") {
  // Different numbers of pieces per rank, allocated while the others wait in MPI.
  std::vector<armci_meminfo_t> mine(static_cast<std::size_t>(Me() + 1));
  for (int turn = 0; turn < Np(); ++turn) {
    if (turn == Me()) {
      for (armci_meminfo_t& info : mine) ASSERT_EQ(ARMCI_Memget(1000, &info, 0), 0);
    }
    Agree();
  }
  // The last descriptor of each rank goes to all ranks as bytes.
  std::vector<armci_meminfo_t> all = OneOfEachRank(mine.back());
  for (int p = 0; p < Np(); ++p) {
    armci_meminfo_t* info = &all[static_cast<std::size_t>(p)];
    ARMCI_Memctl(info);
    EXPECT_EQ(info->cpid, p);
    void* place = ARMCI_Memat(info, 8 * Me());
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(ARMCI_PutValueLong(100 * p + Me(), place, info->cpid), 0);
  }
  Sync();
  for (int p = 0; p < Np(); ++p) {
    armci_meminfo_t* info = &all[static_cast<std::size_t>(p)];
    for (int q = 0; q < Np(); ++q) EXPECT_EQ(ARMCI_GetValueLong(ARMCI_Memat(info, 8 * q), p), 100 * p + q);
    if (!SameNode(p)) continue;
    EXPECT_EQ(LoadShared<long>(ARMCI_Memat(info, 8 * Me())), 100 * p + Me());
  }
  Sync();
  // Another process drops what it keeps; the owner's memory stays.
  for (int p = 0; p < Np(); ++p) {
    if (p != Me()) ARMCI_Memdt(&all[static_cast<std::size_t>(p)], 0);
  }
  Sync();
  EXPECT_EQ(LoadShared<long>(ARMCI_Memat(&mine.back(), 8 * Me())), 100 * Me() + Me());
  for (armci_meminfo_t& info : mine) ARMCI_Memdt(&info, 0);
}

CLAUSE_TEST(MEM, MEM14_offsets_outside_are_refused, "MEM-14", "ERR-2") {
  armci_meminfo_t info;
  Agree();
  ASSERT_EQ(ARMCI_Memget(128, &info, 0), 0);
  for (long offset : {-1L, 129L, LONG_MAX}) {
    void* place = &info;
    std::vector<std::string> lines;
    {
      CapturedStderr capture;
      place = ARMCI_Memat(&info, offset);
      lines = capture.Lines();
    }
    EXPECT_EQ(place, nullptr) << "offset " << offset;
    EXPECT_EQ(lines.size(), 1u) << "offset " << offset;
  }
  ARMCI_Memdt(&info, 0);
}

CLAUSE_TEST(MEM, MEM14_cycles_do_not_grow, "MEM-14", "MEM-7") {
  Agree();
  const auto cycle = [] {
    armci_meminfo_t info;
    ASSERT_EQ(ARMCI_Memget(20000, &info, 0), 0);
    std::memset(ARMCI_Memat(&info, 0), 1, 20000);
    ARMCI_Memdt(&info, 0);
  };
  for (int i = 0; i < 200; ++i) cycle();
  const ProcessState before = ReadProcessState();
  for (int i = 0; i < Scaled(20000, 2000); ++i) cycle();
  const ProcessState after = ReadProcessState();
  EXPECT_LE(after.resident_bytes, before.resident_bytes + (4 << 20));
  EXPECT_EQ(after.descriptors, before.descriptors);
}

CLAUSE_TEST(MEM, MEM15_uses_shm_is_the_same_everywhere_and_the_limit_is_a_hint, "MEM-15") {
  Agree();
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int answer : {ARMCI_Uses_shm(), ARMCI_Uses_shm_grp(&world)}) {
    EXPECT_TRUE(answer == 0 || answer == 1) << answer;
    EXPECT_EQ(answer, FromRank(0, answer)) << "the same everywhere";
  }
  for (unsigned long limit : {0ul, 1ul, 4096ul, ULONG_MAX}) {
    ARMCI_Set_shm_limit(limit);
    std::vector<void*> ptr = Pointers();
    Agree();
    ASSERT_EQ(ARMCI_Malloc(ptr.data(), 1 << 20), 0) << "limit " << limit;
    UseRegion(ptr, 5);
    EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
  }
}

CLAUSE_TEST(MEM, MEM16_copy_moves_local_memory, "MEM-16") {
  Region region(8192);
  Sync();
  for (int bytes : {0, 1, 7, 8, 1000, 4096}) {
    Bytes source(4096 + 16);
    Bytes target(4096 + 16, 't');
    MyRng().Fill(source.data(), source.size());
    Bytes expected = target;
    std::copy_n(source.begin() + 3, bytes, expected.begin() + 5);
    ARMCI_Copy(source.data() + 3, target.data() + 5, bytes);
    EXPECT_TRUE(SameBytes(expected.data(), target.data(), target.size())) << bytes << " bytes";
    // Into a region and out of it.
    ARMCI_Copy(source.data(), region.Mine() + 64, bytes);
    ARMCI_Copy(region.Mine() + 64, target.data(), bytes);
    EXPECT_TRUE(SameBytes(source.data(), target.data(), static_cast<std::size_t>(bytes)));
  }
}

}  // namespace
}  // namespace conformance
