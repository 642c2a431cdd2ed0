// Needs a verbs device. A transfer from cached memory sends the current data, also if the program has remapped the
// memory.
#include "impl/native-verbs/registrations.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "impl/native-verbs/testing/loop.h"

namespace armci::verbs {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 64 * kPage;
constexpr CacheBounds kBounds{16 * kBytes, 16};

char* map(std::size_t bytes, char* at = nullptr, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  void* const memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | (at != nullptr ? MAP_FIXED : 0), file, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return static_cast<char*>(memory);
}

class RegistrationsTest : public ::testing::Test {
 protected:
  void SetUp() override { loop_.open(); }

  std::string sent(const char* from, std::size_t bytes = kBytes) { return loop_.sent(registrations_, from, bytes); }
  // Fills memory, sends it, and expects to find it in the cache.
  void send_first(char* memory, std::size_t bytes = kBytes) {
    std::memset(memory, 'a', bytes);
    ASSERT_EQ(sent(memory, bytes), std::string(bytes, 'a'));
    ASSERT_GT(registrations_.cached_entries(), 0U);
  }

  pid_t child_ = 0;
  Loop loop_;
  Registrations registrations_{loop_.device, kBounds};
};

TEST_F(RegistrationsTest, MemoryThatWasSentIsNotRegisteredAgain) {
  char* const memory = map(kBytes);
  send_first(memory);
  MemoryRegion first;
  MemoryRegion second;
  ASSERT_TRUE(registrations_.take(memory, kBytes, &first));
  ASSERT_TRUE(registrations_.take(memory + kPage, 10, &second));
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(second.bytes, 10U);
  EXPECT_EQ(registrations_.cached_entries(), 1U);
  registrations_.release(first.held);
  registrations_.release(second.held);
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, MemoryOfTheLibraryIsUsedUntilItIsForgotten) {
  char* const memory = map(kBytes);
  std::memset(memory, 'k', kBytes);
  registrations_.keep(memory, kBytes);
  MemoryRegion region;
  ASSERT_TRUE(registrations_.find(memory + 100, kBytes, &region));
  EXPECT_EQ(region.bytes, kBytes - 100);
  EXPECT_EQ(region.held, nullptr);
  EXPECT_EQ(loop_.written(memory + 100, 50, region.key), std::string(50, 'k'));
  EXPECT_FALSE(registrations_.find(memory - 1, 1, &region));
  EXPECT_FALSE(registrations_.find(memory + kBytes, 1, &region));
  registrations_.forget(memory);
  EXPECT_FALSE(registrations_.find(memory, 1, &region));
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, MemoryThatIsMappedAnewAtTheSamePlaceIsSent) {
  char* const memory = map(kBytes);
  send_first(memory);
  munmap(memory, kBytes);
  map(kBytes, memory);
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, APartThatIsMappedAnewIsSent) {
  char* const memory = map(kBytes);
  send_first(memory);
  map(kPage, memory + 5 * kPage);  // over what is there
  std::string expected(kBytes, 'a');
  std::memset(memory + 5 * kPage, 'b', kPage);
  expected.replace(5 * kPage, kPage, std::string(kPage, 'b'));
  EXPECT_EQ(sent(memory), expected);
  munmap(memory, kBytes);
}

// The second registration covers all of the first one's place: seen alone, that looks unchanged again.
TEST_F(RegistrationsTest, ALongerTransferFromNewMemoryDoesNotRevokeWhatHasChanged) {
  char* const memory = map(2 * kBytes);
  send_first(memory + kPage, kBytes);
  munmap(memory, 2 * kBytes);
  map(2 * kBytes, memory);
  std::memset(memory, 'b', 2 * kBytes);
  EXPECT_EQ(sent(memory, 2 * kBytes), std::string(2 * kBytes, 'b'));
  EXPECT_EQ(sent(memory + kPage, kBytes), std::string(kBytes, 'b'));
  munmap(memory, 2 * kBytes);
}

TEST_F(RegistrationsTest, FreedMemoryThatIsAllocatedAgainIsSent) {
  for (int round = 0; round < 20; ++round) {
    auto* const memory = static_cast<char*>(std::malloc(kBytes));
    const char fill = static_cast<char>('a' + round);
    std::memset(memory, fill, kBytes);
    ASSERT_EQ(sent(memory), std::string(kBytes, fill)) << "round " << round;
    std::free(memory);
  }
}

TEST_F(RegistrationsTest, PagesThatWereGivenBackAreSentAsTheyAreNow) {
  char* const memory = map(kBytes);
  for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
    send_first(memory);
    ASSERT_EQ(madvise(memory + kPage, 3 * kPage, advice), 0);
    std::memset(memory + kPage, 'c', 3 * kPage);
    std::string expected(kBytes, 'a');
    expected.replace(kPage, 3 * kPage, std::string(3 * kPage, 'c'));
    EXPECT_EQ(sent(memory), expected) << "advice " << advice;
  }
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, MemoryThatWasMovedIsSentFromBothPlaces) {
  char* const memory = map(kBytes);
  send_first(memory);
  char* const elsewhere = map(kBytes);
  auto* const moved = static_cast<char*>(mremap(memory, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere));
  ASSERT_EQ(moved, elsewhere);
  map(kBytes, memory);
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  EXPECT_EQ(sent(moved), std::string(kBytes, 'a'));
  munmap(memory, kBytes);
  munmap(moved, kBytes);
}

TEST_F(RegistrationsTest, PagesThatWereMovedAwayAreSentAsTheyAreNow) {
  char* const memory = map(kBytes);
  send_first(memory);
  auto* const moved = static_cast<char*>(mremap(memory, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr));
  ASSERT_NE(moved, MAP_FAILED);
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  EXPECT_EQ(sent(moved), std::string(kBytes, 'a'));
  munmap(memory, kBytes);
  munmap(moved, kBytes);
}

// Memory moves to where other memory was sent from before.
TEST_F(RegistrationsTest, MemoryThatWasMovedOverSentMemoryIsSent) {
  char* const memory = map(kBytes);
  char* const other = map(kBytes);
  send_first(memory);
  std::memset(other, 'o', kBytes);
  ASSERT_EQ(sent(other), std::string(kBytes, 'o'));
  ASSERT_EQ(mremap(memory, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, other), other);
  EXPECT_EQ(sent(other), std::string(kBytes, 'a'));
  munmap(other, kBytes);
}

// mremap extends the mark of a range to the memory that it adds.
TEST_F(RegistrationsTest, MemoryThatShrankAndGrewIsSentAsItIsNow) {
  char* const memory = map(kBytes);
  send_first(memory);
  ASSERT_EQ(mremap(memory, kBytes, kBytes / 2, 0), memory);
  ASSERT_EQ(mremap(memory, kBytes / 2, kBytes, 0), memory);
  std::memset(memory + kBytes / 2, 'b', kBytes / 2);
  EXPECT_EQ(sent(memory), std::string(kBytes / 2, 'a') + std::string(kBytes / 2, 'b'));
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, ReallocatedMemoryIsSentAsItIsNow) {
  constexpr std::size_t kLarge = 4 * kBytes;
  auto* memory = static_cast<char*>(std::malloc(kLarge));
  send_first(memory, kLarge);
  memory = static_cast<char*>(std::realloc(memory, kLarge / 2));
  memory = static_cast<char*>(std::realloc(memory, kLarge));
  std::memset(memory + kLarge / 2, 'b', kLarge / 2);
  EXPECT_EQ(sent(memory, kLarge), std::string(kLarge / 2, 'a') + std::string(kLarge / 2, 'b'));
  std::free(memory);
}

TEST_F(RegistrationsTest, MemoryThatGrewIntoAPlaceThatWasUnmappedIsSent) {
  char* const place = map(2 * kBytes);
  send_first(place, 2 * kBytes);
  ASSERT_EQ(sent(place + kBytes), std::string(kBytes, 'a'));
  char* const other = map(kBytes);
  std::memset(other, 'o', kBytes);
  ASSERT_EQ(sent(other), std::string(kBytes, 'o'));
  munmap(place, 2 * kBytes);
  ASSERT_EQ(mremap(other, kBytes, 2 * kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
  std::memset(place + kBytes, 'n', kBytes);
  EXPECT_EQ(sent(place + kBytes), std::string(kBytes, 'n'));
  EXPECT_EQ(sent(place, 2 * kBytes), std::string(kBytes, 'o') + std::string(kBytes, 'n'));
  munmap(place, 2 * kBytes);
}

// No thread listens after that.
TEST_F(RegistrationsTest, MemoryGoesBackThoughAChildLivesOn) {
  char* const memory = map(kBytes);
  {
    Registrations short_lived(loop_.device, kBounds);
    std::memset(memory, 'a', kBytes);
    ASSERT_EQ(loop_.sent(short_lived, memory, kBytes), std::string(kBytes, 'a'));
    ASSERT_EQ(short_lived.cached_entries(), 1U);
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    child_ = child;
  }
  EXPECT_EQ(madvise(memory, kBytes, MADV_DONTNEED), 0);
  EXPECT_EQ(munmap(memory, kBytes), 0);
  kill(child_, SIGKILL);
  EXPECT_EQ(waitpid(child_, nullptr, 0), child_);
}

TEST_F(RegistrationsTest, TheHeapsEndIsSentAfterItShrankAndGrew) {
  auto* const end = static_cast<char*>(sbrk(0));
  char* const memory = end + (kPage - reinterpret_cast<std::uintptr_t>(end) % kPage);
  ASSERT_EQ(brk(memory + kBytes), 0);
  send_first(memory);
  if (brk(memory + 2 * kPage) != 0 || brk(memory + kBytes) != 0) GTEST_FAIL() << "brk";
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  ASSERT_EQ(brk(end), 0);
}

TEST_F(RegistrationsTest, AfterForkBothHaveTheirOwn) {
  char* const memory = map(kBytes);
  send_first(memory);
  const pid_t child = fork();
  if (child == 0) {
    const bool intact = memory[0] == 'a' && memory[kBytes - 1] == 'a';
    std::memset(memory, 'x', kBytes);
    _exit(intact ? 0 : 1);
  }
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  munmap(memory, kBytes);
}

// Other processes can take its pages away without any event.
TEST_F(RegistrationsTest, SharedMemoryIsNotKept) {
  const int file = memfd_create("shared", 0);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  char* const memory = map(kBytes, nullptr, MAP_SHARED, file);
  std::memset(memory, 'a', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'a'));
  EXPECT_EQ(registrations_.cached_entries(), 0U);
  ASSERT_EQ(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kBytes), 0);
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  munmap(memory, kBytes);
  close(file);
}

TEST_F(RegistrationsTest, MemoryThatCannotBeWrittenIsCopied) {
  char* const memory = map(kBytes);
  ASSERT_EQ(mprotect(memory, kBytes, PROT_READ), 0);
  MemoryRegion region;
  EXPECT_FALSE(registrations_.take(memory, kBytes, &region));
  munmap(memory, kBytes);
}

TEST_F(RegistrationsTest, WhatWasNotUsedForLongestGoesFirst) {
  constexpr std::size_t kMany = kBounds.entries + 4;
  char* const memory = map(2 * kMany * kPage);
  std::memset(memory, 'a', 2 * kMany * kPage);
  MemoryRegion busy;
  ASSERT_TRUE(registrations_.take(memory, kPage, &busy));
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(sent(memory + 2 * i * kPage, kPage), std::string(kPage, 'a'));
    EXPECT_LE(registrations_.cached_entries(), kBounds.entries);
  }
  EXPECT_EQ(registrations_.cached_entries(), kBounds.entries);
  EXPECT_EQ(loop_.written(memory, kPage, busy.key), std::string(kPage, 'a'));  // in use: it stayed
  registrations_.release(busy.held);
  munmap(memory, 2 * kMany * kPage);
}

TEST_F(RegistrationsTest, NoMoreBytesAreKeptThanAllowed) {
  constexpr std::size_t kMany = 3 * kBounds.bytes;
  char* const memory = map(kMany);
  std::memset(memory, 'a', kMany);
  for (std::size_t at = 0; at < kMany; at += kBytes) {
    ASSERT_EQ(sent(memory + at), std::string(kBytes, 'a'));
    EXPECT_LE(registrations_.cached_bytes(), kBounds.bytes);
  }
  EXPECT_GT(registrations_.cached_bytes(), 0U);
  munmap(memory, kMany);
}

TEST_F(RegistrationsTest, LongTransfersRegisterInSlices) {
  constexpr std::size_t kLong = Registrations::kSliceBytes + kBytes;
  char* const memory = map(kLong);
  std::memset(memory, 'a', kLong);
  MemoryRegion region;
  ASSERT_TRUE(registrations_.take(memory, kLong, &region));
  EXPECT_EQ(region.bytes, Registrations::kSliceBytes);
  registrations_.release(region.held);
  munmap(memory, kLong);
}

TEST_F(RegistrationsTest, WhatChangesDuringATransferIsDroppedAfterIt) {
  char* const memory = map(kBytes);
  send_first(memory);
  MemoryRegion pending;
  ASSERT_TRUE(registrations_.take(memory, kBytes, &pending));
  munmap(memory, kBytes);
  map(kBytes, memory);
  std::memset(memory, 'b', kBytes);
  EXPECT_EQ(sent(memory), std::string(kBytes, 'b'));
  EXPECT_EQ(loop_.written(memory, 10, pending.key), std::string(10, 'a'));  // the memory that the transfer began with
  registrations_.release(pending.held);
  munmap(memory, kBytes);
}

// In a process of its own, which may lock little.
int take_until_refused() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  const rlimit little{6 << 20, 6 << 20};
  if (setrlimit(RLIMIT_MEMLOCK, &little) != 0 || syscall(SYS_capset, &header, none) != 0) return 2;
  Loop loop;
  loop.open();
  if (testing::Test::HasFailure()) return 5;
  Registrations registrations(loop.device, {std::size_t{64} << 20, 1024});
  char* const memory = map(std::size_t{16} << 20);
  std::memset(memory, 'a', std::size_t{16} << 20);
  // Idle entries are evicted for others.
  for (std::size_t at = 0; at < (std::size_t{16} << 20); at += kBytes) {
    if (loop.sent(registrations, memory + at, kBytes) != std::string(kBytes, 'a')) return 3;
  }
  // Those in use do not.
  std::vector<MemoryRegion> held;
  MemoryRegion region;
  for (std::size_t at = 0; registrations.take(memory + at, kBytes, &region); at += kBytes) held.push_back(region);
  for (const MemoryRegion& one : held) registrations.release(one.held);
  const bool again = registrations.take(memory, kBytes, &region);
  return !held.empty() && again ? 0 : 4;
}

TEST(RegistrationsLimitTest, WhereLittleMemoryMayBeLockedTheRestIsCopied) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(_exit(take_until_refused()), testing::ExitedWithCode(0),
              "limit on locked memory \\(ulimit -l\\), has no memory for more registered");
}

}  // namespace
}  // namespace armci::verbs
