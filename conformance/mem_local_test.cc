// MEM: local buffers of every kind, groups, extreme sizes.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr int kBytes = 3000;
const char kReadOnly[kBytes] = "a constant in the program's read-only data";
alignas(16) char static_buffer[kBytes];

// Put from the buffer and get back into it, compared with a copy.
void UseAsLocalBuffer(const char* kind, char* buffer, Region* region, int target) {
  Bytes content(kBytes);
  MyRng().Fill(content.data(), content.size());
  std::copy(content.begin(), content.end(), buffer);
  char* slot = region->At(target, static_cast<std::size_t>(Me()) * kBytes);
  EXPECT_EQ(ARMCI_Put(buffer, slot, kBytes, target), 0) << kind;
  std::fill_n(buffer, kBytes, 'x');
  EXPECT_EQ(ARMCI_Get(slot, buffer, kBytes, target), 0) << kind;
  EXPECT_TRUE(SameBytes(content.data(), buffer, kBytes)) << kind;
  const long one = 1;
  long* elements = reinterpret_cast<long*>(buffer);
  elements[0] = 5;
  EXPECT_EQ(ARMCI_Put(elements, slot, 8, target), 0) << kind;
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, const_cast<long*>(&one), elements, slot, 8, target), 0) << kind;
  EXPECT_EQ(ARMCI_Get(slot, elements, 8, target), 0) << kind;
  EXPECT_EQ(elements[0], 10) << kind;
}

CLAUSE_TEST(MEM, MEM9_only_local_memory_is_freed_as_such, "MEM-9", "ERR-1") {
  Agree();
  char* local = static_cast<char*>(ARMCI_Malloc_local(kBytes));
  ASSERT_NE(local, nullptr);
  char stack = 0;
  EXPECT_NE(ARMCI_Free_local(&stack), 0) << "the stack";
  EXPECT_NE(ARMCI_Free_local(local + 64), 0) << "the middle of it";
  EXPECT_EQ(ARMCI_Free_local(local), 0);
  EXPECT_NE(ARMCI_Free_local(local), 0) << "a second time";
  EXPECT_EQ(ARMCI_Free_local(nullptr), 0);
}

CLAUSE_TEST(MEM, MEM9_any_local_buffer, "MEM-9") {
  Region region(static_cast<std::size_t>(Np()) * kBytes + 64);
  const int target = (Me() + 1) % Np();
  alignas(16) char stack[kBytes];
  UseAsLocalBuffer("stack", stack, &region, target);
  auto heap = std::make_unique<char[]>(kBytes);
  UseAsLocalBuffer("heap", heap.get(), &region, target);
  UseAsLocalBuffer("static", static_buffer, &region, target);

  char* local = static_cast<char*>(ARMCI_Malloc_local(kBytes));
  ASSERT_NE(local, nullptr);
  UseAsLocalBuffer("ARMCI_Malloc_local", local, &region, target);
  EXPECT_EQ(ARMCI_Free_local(local), 0);

  char name[] = "/tmp/conformance-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  UseAsLocalBuffer("memory-mapped file", static_cast<char*>(mapped), &region, target);
  munmap(mapped, kBytes);

  char* slot = region.At(target, static_cast<std::size_t>(Me()) * kBytes);
  EXPECT_EQ(ARMCI_Put(const_cast<char*>(kReadOnly), slot, kBytes, target), 0);
  EXPECT_EQ(ARMCI_Get(slot, stack, kBytes, target), 0);
  EXPECT_TRUE(SameBytes(kReadOnly, stack, kBytes)) << "read-only source";
}

CLAUSE_TEST(MEM, MEM9_local_allocation_is_private_and_not_collective, "MEM-9") {
  // Different numbers of calls per rank: a collective call hidden inside would hang.
  std::vector<void*> mine;
  for (int i = 0; i < 10 * (Me() + 1); ++i) {
    mine.push_back(ARMCI_Malloc_local(1000 + i));
    ASSERT_NE(mine.back(), nullptr);
    std::memset(mine.back(), Me() + 1, static_cast<std::size_t>(1000 + i));
  }
  Sync();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    EXPECT_EQ(static_cast<char*>(mine[i])[999 + i], Me() + 1) << "another process wrote to private memory";
    EXPECT_EQ(ARMCI_Free_local(mine[i]), 0);
  }
}

CLAUSE_TEST(MEM, MEM10_local_buffer_inside_a_region, "MEM-10") {
  Region region(8192);
  Region other(4096);
  const int target = (Me() + 1) % Np();
  const int writer = (Me() + Np() - 1) % Np();
  MyRng().Fill(region.Mine(), 1024);
  const Bytes content(region.Mine(), region.Mine() + 1024);
  Sync();
  // From my part of a region into another part of the same region, and into another region.
  EXPECT_EQ(ARMCI_Put(region.Mine(), region.At(target, 2048), 1024, target), 0);
  EXPECT_EQ(ARMCI_Put(region.Mine(), other.At(target), 1024, target), 0);
  // From mine to mine.
  EXPECT_EQ(ARMCI_Put(region.Mine(), region.At(Me(), 4096), 1024, Me()), 0);
  EXPECT_EQ(ARMCI_Get(region.At(Me(), 4096), region.Mine() + 6144, 1024, Me()), 0);
  // A get into my part, out of another's.
  EXPECT_EQ(ARMCI_Get(region.At(target), other.Mine() + 2048, 1024, target), 0);
  Sync();
  EXPECT_TRUE(SameBytes(content.data(), region.Mine() + 4096, 1024));
  EXPECT_TRUE(SameBytes(content.data(), region.Mine() + 6144, 1024));
  Bytes theirs(1024);
  MPI_Sendrecv(content.data(), 1024, MPI_CHAR, target, 0, theirs.data(), 1024, MPI_CHAR, writer, 0, Comm(),
               MPI_STATUS_IGNORE);
  EXPECT_TRUE(SameBytes(theirs.data(), region.Mine() + 2048, 1024));
  EXPECT_TRUE(SameBytes(theirs.data(), other.Mine(), 1024));
  MPI_Sendrecv(content.data(), 1024, MPI_CHAR, writer, 1, theirs.data(), 1024, MPI_CHAR, target, 1, Comm(),
               MPI_STATUS_IGNORE);
  EXPECT_TRUE(SameBytes(theirs.data(), other.Mine() + 2048, 1024));
}

CLAUSE_TEST(MEM, MEM11_group_memory_is_indexed_by_group_rank, "MEM-11", NeedsRanks(2)) {
  // All but rank 0, in reverse order: group rank and absolute id differ everywhere.
  std::vector<int> members;
  for (int p = Np() - 1; p >= 1; --p) members.push_back(p);
  ARMCI_Group group;
  Agree();
  ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
  if (Me() != 0) {
    std::vector<void*> ptr(members.size(), nullptr);
    EXPECT_EQ(ARMCI_Malloc_group(ptr.data(), 256, &group), 0);
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      const int absolute = ARMCI_Absolute_id(&group, static_cast<int>(rank));
      EXPECT_EQ(absolute, members[rank]);
      long mark = 100L * Me() + absolute;
      EXPECT_EQ(ARMCI_Put(&mark, static_cast<long*>(ptr[rank]) + Me(), sizeof mark, absolute), 0);
    }
    ARMCI_AllFence();
    armci_msg_group_barrier(&group);
    int my_rank = -1;
    EXPECT_EQ(ARMCI_Group_rank(&group, &my_rank), 0);
    EXPECT_EQ(my_rank, Np() - 1 - Me());
    const long* mine = static_cast<long*>(ptr[static_cast<std::size_t>(my_rank)]);
    for (int origin : members) EXPECT_EQ(LoadShared<long>(mine + origin), 100L * origin + Me());
    armci_msg_group_barrier(&group);
    EXPECT_EQ(ARMCI_Free_group(ptr[static_cast<std::size_t>(my_rank)], &group), 0);
    ARMCI_Group_free(&group);
  }
  Agree();
}

// Writes at both ends and in the middle of the last rank's part, from rank 0.
void TouchEnds(std::size_t bytes) {
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  const int owner = Np() - 1;
  Agree();
  ASSERT_EQ(ARMCI_Malloc(ptr.data(), Me() == owner ? static_cast<armci_size_t>(bytes) : 0), 0) << bytes << " bytes";
  Agree();
  char* base = static_cast<char*>(ptr[static_cast<std::size_t>(owner)]);
  if (Me() == 0 && bytes > 0) {
    for (std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      char value = static_cast<char>(at % 100 + 1);
      EXPECT_EQ(ARMCI_Put(&value, base + at, 1, owner), 0) << "offset " << at;
    }
    ARMCI_Fence(owner);
  }
  Sync();
  if (Me() == owner && bytes > 0) {
    EXPECT_EQ(base[bytes - 1], static_cast<char>((bytes - 1) % 100 + 1));
    if (bytes > 2) {
      EXPECT_EQ(base[0], 1);
      EXPECT_EQ(base[bytes / 2], static_cast<char>((bytes / 2) % 100 + 1));
    }
  }
  Agree();
  EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
}

bool MemoryAllows(std::size_t bytes) {
  struct sysinfo memory {};
  struct statvfs shared {};
  sysinfo(&memory);
  const bool known = statvfs("/dev/shm", &shared) == 0;
  const std::size_t shared_free = known ? shared.f_bavail * shared.f_frsize : ~std::size_t{0};
  return AllAgreeOn(memory.freeram * static_cast<std::size_t>(memory.mem_unit) > 2 * bytes && shared_free > 2 * bytes);
}

CLAUSE_TEST(MEM, MEM12_small_and_page_boundary_sizes, "MEM-12") {
  for (std::size_t bytes : {1u, 2u, 4095u, 4096u, 4097u}) TouchEnds(bytes);
}

CLAUSE_TEST(MEM, MEM12_one_GiB, "MEM-12", DeadlineSeconds(60)) {
  const std::size_t bytes = Scaled(std::size_t{1} << 30, std::size_t{1} << 26);
  if (!MemoryAllows(bytes)) SkipTest("needs 2 GiB of free memory");
  TouchEnds(bytes);
}

CLAUSE_TEST(MEM, MEM12_more_than_4_GiB, "MEM-12", DeadlineSeconds(120)) {
  const std::size_t bytes = (std::size_t{1} << 32) + 12345;
  if (Quick()) SkipTest("left out by --quick");
  if (!MemoryAllows(bytes)) SkipTest("needs 8 GiB of free memory");
  TouchEnds(bytes);
}

}  // namespace
}  // namespace conformance
