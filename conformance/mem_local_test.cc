// MEM: local buffers of every kind, groups, extreme sizes.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr int kBytes = 3000;
const char kReadOnly[6000] = "a constant in the program's read-only data";
alignas(16) char static_buffer[kModestExtent];

struct LocalBuffer {
  const char* kind;
  char* at;  // kModestExtent bytes
  // Where an arena keeps what the buffer holds, if that lies in a slot.
  char* mirror = nullptr;
};

bool MoveFromOrTo(const LocalBuffer& local, const Way& way, std::size_t bytes, Arena* arena, int target) {
  TableTransfer one(way, bytes);
  Transfer& transfer = one.transfer();
  const std::string text = std::string(local.kind) + ": " + NameOf(way) + " of " + std::to_string(bytes) +
                           " bytes, to " + std::to_string(target) + SeedText();
  char* slot = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  const auto extent = static_cast<std::size_t>(std::max(one.plan().SrcEnd(), one.plan().DstEnd()));
  one.Fill(&MyRng(), local.at, extent);
  Bytes expected(local.at, local.at + extent);
  one.Model(way.op == Op::kGet ? image : local.at, way.op == Op::kGet ? expected.data() : image);
  EXPECT_EQ(way.op == Op::kGet ? transfer.Start(slot, local.at, target) : transfer.Start(local.at, slot, target), 0)
      << text;
  EXPECT_EQ(transfer.Wait(), 0) << text;
  const auto same = SameBytes(expected.data(), local.at, extent);
  EXPECT_TRUE(same) << "local side of " << text;
  if (local.mirror != nullptr) std::copy_n(local.at, extent, local.mirror);
  return same && (way.op == Op::kGet || arena->Verify(target, text));
}

// Every way to move data, each kind of target; the quick run takes one size of each, by the seed.
void UseAsLocalBuffer(const LocalBuffer& local, Arena* arena) {
  for (int target : TableTargets()) {
    for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
      arena->Refill(&MyRng(), target, op == Op::kAcc ? &kTableType : nullptr);
      for (const Way& way : WaysThat([=](const Way& each) { return each.op == op; })) {
        std::vector<std::size_t> sizes = ModestSizesOf(way);
        MyRng().Shuffle(&sizes);
        if (Quick()) sizes.resize(1);
        for (std::size_t bytes : sizes) {
          if (!MoveFromOrTo(local, way, bytes, arena, target)) return;
        }
      }
    }
  }
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

CLAUSE_TEST(MEM, MEM9_any_local_buffer, "MEM-9", DeadlineSeconds(60)) {
  Arena arena(kModestExtent + 2 * kGuard);
  alignas(16) char stack[kModestExtent];
  UseAsLocalBuffer({"stack", stack}, &arena);
  auto heap = std::make_unique<char[]>(kModestExtent);
  UseAsLocalBuffer({"heap", heap.get()}, &arena);
  UseAsLocalBuffer({"static", static_buffer}, &arena);

  char* local = static_cast<char*>(ARMCI_Malloc_local(kModestExtent));
  ASSERT_NE(local, nullptr);
  UseAsLocalBuffer({"ARMCI_Malloc_local", local}, &arena);
  EXPECT_EQ(ARMCI_Free_local(local), 0);

  char name[] = "/tmp/conformance-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  ASSERT_EQ(ftruncate(file, kModestExtent), 0);
  void* mapped = mmap(nullptr, kModestExtent, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  UseAsLocalBuffer({"memory-mapped file", static_cast<char*>(mapped)}, &arena);
  munmap(mapped, kModestExtent);
  arena.VerifyByOwners();
}

// Libraries that keep memory registered have to see that it was unmapped.
CLAUSE_TEST(MEM, MEM9_a_local_buffer_mapped_anew_at_the_same_address, "MEM-9", "XFER-1") {
  constexpr std::size_t kMapped = 256 << 10;
  Region region(kMapped);
  const int target = (Me() + 1) % Np();
  const auto map = [](void* at) {
    return mmap(at, kMapped, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  };
  void* place = nullptr;
  for (int round = 1; round <= Scaled(10, 3); ++round) {
    Sync();
    void* const mapped = map(place);
    ASSERT_NE(mapped, MAP_FAILED);
    place = mapped;
    std::memset(mapped, round, kMapped);
    EXPECT_EQ(ARMCI_Put(mapped, region.At(target), kMapped, target), 0);
    ARMCI_Fence(target);
    std::memset(mapped, 0, kMapped);
    EXPECT_EQ(ARMCI_Get(region.At(target), mapped, kMapped, target), 0);
    const Bytes expected(kMapped, static_cast<char>(round));
    EXPECT_TRUE(SameBytes(expected.data(), static_cast<char*>(mapped), kMapped)) << "by get, round " << round;
    munmap(mapped, kMapped);
    Sync();
    EXPECT_TRUE(SameBytes(expected.data(), region.Mine(), kMapped)) << "by load, round " << round;
  }
}

CLAUSE_TEST(MEM, MEM9_read_only_source_of_a_put, "MEM-9") {
  Arena arena(sizeof kReadOnly + 2 * kGuard);
  char* source = const_cast<char*>(kReadOnly);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (const Way& way : WaysThat([](const Way& each) { return each.op == Op::kPut; })) {
      for (std::size_t bytes : ModestSizesOf(way)) {
        TableTransfer put(way, bytes);
        if (static_cast<std::size_t>(std::max(put.plan().SrcEnd(), put.plan().DstEnd())) > sizeof kReadOnly) continue;
        put.Model(source, arena.Image(target) + kGuard);
        EXPECT_EQ(put.transfer().Start(source, arena.Slot(target) + kGuard, target), 0) << NameOf(way);
        EXPECT_EQ(put.transfer().Wait(), 0) << NameOf(way);
        if (!arena.Verify(target, "read-only source: " + NameOf(way) + SeedText())) return;
      }
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(MEM, MEM9_local_allocation_is_private_and_not_collective, "MEM-9") {
  // Different numbers of calls per rank: a collective call hidden inside would hang.
  std::vector<std::vector<char>> expected;
  std::vector<void*> mine;
  for (int i = 0; i < 10 * (Me() + 1); ++i) {
    const std::size_t bytes = static_cast<std::size_t>(1000 + i);
    mine.push_back(ARMCI_Malloc_local(1000 + i));
    ASSERT_NE(mine.back(), nullptr);
    expected.emplace_back(bytes, static_cast<char>(37 * Me() + i));
    std::memcpy(mine.back(), expected.back().data(), bytes);
  }
  Sync();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    EXPECT_TRUE(SameBytes(expected[i].data(), static_cast<char*>(mine[i]), expected[i].size()))
        << "allocation " << i << ": another one, or another process, wrote there";
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

CLAUSE_TEST(MEM, MEM10_every_way_to_move_data_with_a_region_on_both_sides, "MEM-10", DeadlineSeconds(60)) {
  constexpr std::size_t kHalf = kModestExtent + 2 * kGuard;
  // The second half of the caller's slot at itself is local memory in the same region.
  Arena arena(2 * kHalf);
  UseAsLocalBuffer({"the same region", arena.Slot(Me()) + kHalf, arena.Image(Me()) + kHalf}, &arena);
  Region other(kModestExtent);
  UseAsLocalBuffer({"another region", other.Mine()}, &arena);
  arena.VerifyByOwners();
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
