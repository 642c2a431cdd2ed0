// Node memory of one process, and the fate of processes that wait for a dead one.

#include "impl/node/node_memory.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "impl/node/accumulate.h"
#include "impl/node/block_finder.h"
#include "impl/node/node_accumulate.h"
#include "impl/node/node_barrier.h"
#include "impl/node/node_mutex.h"
#include "impl/node/shared_file.h"
#include "impl/testing/processes.h"

namespace armci::node {
namespace {

constexpr std::size_t kRetain = std::size_t{1} << 20;

class NodeMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(node_memory().attach(MPI_COMM_SELF, {"/dev/shm", std::size_t{1} << 30, kRetain, 0}).ok());
  }
  void TearDown() override { node_memory().detach(); }

  static void* take(std::size_t bytes) {
    void* block = nullptr;
    EXPECT_TRUE(node_memory().take(bytes, &block).ok());
    EXPECT_TRUE(node_memory().commit(block, bytes).ok());
    return block;
  }
  // Bytes of the shared file that have pages, found by way of the mapping's entry in /proc.
  static std::size_t allocated_bytes() {
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    unsigned long begin = 0;
    unsigned long end = 0;
    const auto wanted = reinterpret_cast<unsigned long>(&node_memory().control());
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      if (std::sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin == wanted) break;
    }
    std::fclose(maps);
    char path[128];
    std::snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", begin, end);
    struct stat information {};
    EXPECT_EQ(stat(path, &information), 0) << path;
    return static_cast<std::size_t>(information.st_blocks) * 512;
  }
};

TEST_F(NodeMemoryTest, GuestHasTheMemoryAtTheSameAddress) {
  auto* const word = static_cast<long*>(take(sizeof(long)));
  *word = 7;
  NodeMemoryAddress address{};
  ASSERT_TRUE(node_memory().address(&address).ok());
  const int failed = armci::testing::run_processes(1, [&](int) {
    node_memory().detach();  // as one that comes from elsewhere
    if (!node_memory().attach_as_guest(address).ok() || *word != 7 || node_memory().dead_peer() != -1) return 1;
    BlockFinder blocks;
    if (!blocks.holds(word, sizeof *word) || blocks.holds(word, kPageBytes + 1)) return 3;
    *word = 8;
    node_memory().detach();
    return 0;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(*word, 8);
}

TEST_F(NodeMemoryTest, GuestGetsAnErrorThatTheMemoryIsElsewhere) {
  NodeMemoryAddress address{};
  ASSERT_TRUE(node_memory().address(&address).ok());
  NodeMemoryAddress elsewhere[4] = {address, address, address, address};
  elsewhere[0].file.boot_id[0] ^= 1;
  ++elsewhere[1].file.pid_namespace;
  ++elsewhere[2].file.inode;
  elsewhere[3].file.descriptor = 1 << 20;
  for (const NodeMemoryAddress& other : elsewhere) {
    NodeMemory guest;
    EXPECT_EQ(guest.attach_as_guest(other).code(), Code::kUnsupported);
    EXPECT_NE(std::strstr(last_cause().text, "cannot be opened here"), nullptr);
    EXPECT_FALSE(guest.attached());
  }
}

TEST_F(NodeMemoryTest, GuestGetsAnErrorThatTheAddressIsTaken) {
  NodeMemoryAddress address{};
  ASSERT_TRUE(node_memory().address(&address).ok());
  NodeMemory guest;
  EXPECT_FALSE(guest.attach_as_guest(address).ok());
  EXPECT_NE(std::strstr(last_cause().text, "cannot map"), nullptr);
}

TEST_F(NodeMemoryTest, BlocksCanBeWrittenFromEndToEnd) {
  constexpr std::size_t kBytes = 3 * kPageBytes + 5;
  char* block = static_cast<char*>(take(kBytes));
  std::memset(block, 1, kBytes);
  node_memory().give_back(block, kBytes);
}

TEST_F(NodeMemoryTest, FindsBlocksThatAreTakenAndNoOthers) {
  BlockFinder blocks;
  char* first = static_cast<char*>(take(kPageBytes + 1));
  char* second = static_cast<char*>(take(3 * kPageBytes));
  EXPECT_TRUE(blocks.holds(first, 2 * kPageBytes));
  EXPECT_TRUE(blocks.holds(second + 5, 3 * kPageBytes - 5));
  EXPECT_FALSE(blocks.holds(second, 3 * kPageBytes + 1));
  EXPECT_FALSE(blocks.holds(&node_memory().control(), 1));
  EXPECT_FALSE(blocks.holds(&blocks, 1));
  EXPECT_FALSE(blocks.holds(nullptr, 1));
  EXPECT_FALSE(blocks.holds(first, SIZE_MAX));
  EXPECT_FALSE(blocks.holds(second - 1, 2)) << "from one block into its neighbour";
  node_memory().give_back(second, 3 * kPageBytes);
  EXPECT_FALSE(blocks.holds(second, 1)) << "given back, and the finder knew it";
  EXPECT_TRUE(blocks.holds(first, 1));
  EXPECT_EQ(take(3 * kPageBytes), second);
  EXPECT_TRUE(blocks.holds(second, 1));
  node_memory().give_back(second, 3 * kPageBytes);
  node_memory().give_back(first, kPageBytes + 1);
}

// One of no bytes is a block like others.
TEST_F(NodeMemoryTest, GivingBackNothingLeavesOtherBlocksAlone) {
  BlockFinder blocks;
  char* nothing = static_cast<char*>(take(0));
  char* something = static_cast<char*>(take(8));
  EXPECT_NE(nothing, something);
  node_memory().give_back(nothing, 0);
  EXPECT_FALSE(blocks.holds(nothing, 1));
  EXPECT_TRUE(blocks.holds(something, 8));
  node_memory().give_back(something, 8);
}

// Legal traffic goes on to some blocks while others come and go.
TEST_F(NodeMemoryTest, FindsABlockWhileAnotherThreadTakesAndGivesBackOthers) {
  constexpr int kRounds = 20000;
  char* first = static_cast<char*>(take(kPageBytes));
  char* second = static_cast<char*>(take(kPageBytes));
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i)
      node_memory().give_back(take(static_cast<std::size_t>(i) % 7 * kPageBytes),
                              static_cast<std::size_t>(i) % 7 * kPageBytes);
    over.store(true);
  });
  BlockFinder blocks;
  int missed = 0;
  while (!over.load()) {
    for (char* block : {first, second}) missed += blocks.holds(block, kPageBytes) ? 0 : 1;
  }
  other.join();
  EXPECT_EQ(missed, 0);
  node_memory().give_back(second, kPageBytes);
  node_memory().give_back(first, kPageBytes);
}

// As many as do not fit into the first pages of the books.
TEST_F(NodeMemoryTest, FindsManyBlocks) {
  constexpr int kBlocks = 10000;
  BlockFinder blocks;
  std::vector<char*> taken(kBlocks);
  for (char*& block : taken) {
    void* place = nullptr;
    ASSERT_TRUE(node_memory().take(8, &place).ok());
    block = static_cast<char*>(place);
  }
  for (char* block : taken) ASSERT_TRUE(blocks.holds(block, kPageBytes));
  for (int i = 0; i < kBlocks; i += 2) node_memory().give_back(taken[static_cast<std::size_t>(i)], 8);
  for (int i = 0; i < kBlocks; ++i) ASSERT_EQ(blocks.holds(taken[static_cast<std::size_t>(i)], 1), i % 2 == 1);
  for (int i = 1; i < kBlocks; i += 2) node_memory().give_back(taken[static_cast<std::size_t>(i)], 8);
}

TEST_F(NodeMemoryTest, MoreThanTheReserveIsRefusedWithTheSettingsName) {
  void* block = nullptr;
  EXPECT_EQ(node_memory().take(std::size_t{1} << 31, &block).code(), Code::kMemory);
  EXPECT_NE(std::string(last_cause().text).find("ARMCI_SHM_RESERVE"), std::string::npos);
  EXPECT_EQ(node_memory().take(SIZE_MAX, &block).code(), Code::kMemory);
  EXPECT_EQ(block, nullptr);
  block = take(8);
  node_memory().give_back(block, 8);
}

TEST_F(NodeMemoryTest, BlocksInUseNeverOverlap) {
  std::mt19937 random(20277);
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int step = 0; step < 500; ++step) {
    if (blocks.size() < 20) {
      const std::size_t bytes = 1 + random() % 40000;
      auto* block = static_cast<unsigned char*>(take(bytes));
      std::memset(block, static_cast<int>(bytes % 251), bytes);
      blocks.emplace_back(block, bytes);
      continue;
    }
    std::swap(blocks[random() % blocks.size()], blocks.back());
    const auto [block, bytes] = blocks.back();
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], bytes % 251) << "step " << step;
    node_memory().give_back(block, bytes);
    blocks.pop_back();
  }
  for (const auto& [block, bytes] : blocks) node_memory().give_back(block, bytes);
}

// [MEM-7] What is given back beyond the retained part goes to the system.
TEST_F(NodeMemoryTest, PagesBeyondTheRetainedOnesAreGivenToTheSystem) {
  const std::size_t before = allocated_bytes();
  void* block = take(64 * kRetain);
  EXPECT_GE(allocated_bytes(), before + 64 * kRetain);
  node_memory().give_back(block, 64 * kRetain);
  EXPECT_LE(allocated_bytes(), before + kRetain);
  for (int cycle = 0; cycle < 2000; ++cycle) {
    const std::size_t bytes = kRetain / 2 + static_cast<std::size_t>(cycle) * 512;
    node_memory().give_back(take(bytes), bytes);
  }
  EXPECT_LE(allocated_bytes(), before + kRetain);
}

TEST_F(NodeMemoryTest, AttachAfterDetachWorks) {
  node_memory().detach();
  EXPECT_FALSE(node_memory().attached());
  ASSERT_TRUE(node_memory().attach(MPI_COMM_SELF, {"/dev/shm", std::size_t{1} << 30, kRetain, 0}).ok());
  node_memory().give_back(take(8), 8);
}

TEST_F(NodeMemoryTest, AFailedAttachLeavesNothing) {
  node_memory().detach();
  EXPECT_FALSE(node_memory().attach(MPI_COMM_SELF, {"/nowhere", 0, kRetain, 0}).ok());
  EXPECT_FALSE(node_memory().attached());
}

// A second process of the machine, entered by hand: it lives in `child`.
class DeadPeerTest : public NodeMemoryTest {
 protected:
  static_assert(round_up(sizeof(Control) + sizeof(Peer), kPageBytes) >= sizeof(Control) + 2 * sizeof(Peer),
                "the control block of one process fits a second");

  static void enter_peer(pid_t pid) {
    Peer& peer = node_memory().control().peers[1];
    peer.world_rank = 1;
    peer.pid_namespace = pid_namespace();
    peer.leaving.store(0);
    peer.pid.store(pid);
    node_memory().control().peer_count = 2;
  }
  // Runs `act` in a child that is then gone, not reaped yet, and entered as process 1.
  template <class Act>
  void let_die(Act act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      _exit(0);
    }
    child_ = child;
    enter_peer(child);
    siginfo_t information;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOWAIT), 0);
  }
  void reap() {
    if (child_ > 0) waitpid(child_, nullptr, 0);  // and no other: MPI may have children of its own
    child_ = -1;
  }
  // Each death in a program started anew: MPI is not made to be forked.
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    NodeMemoryTest::SetUp();
  }
  void TearDown() override {
    reap();
    NodeMemoryTest::TearDown();
  }

 private:
  pid_t child_ = -1;
};

TEST_F(DeadPeerTest, ALivingProcessIsNotDead) {
  enter_peer(getppid());
  EXPECT_EQ(node_memory().dead_peer(), -1);
}

TEST_F(DeadPeerTest, AProcessThatEndedIsDeadEvenBeforeItIsReaped) {
  let_die([] {});
  EXPECT_EQ(node_memory().dead_peer(), 1);
  reap();
  EXPECT_EQ(node_memory().dead_peer(), 1);
}

TEST_F(DeadPeerTest, AProcessThatLeftInAnOrderlyWayIsNotDead) {
  let_die([] {});
  node_memory().control().peers[1].leaving.store(1);
  EXPECT_EQ(node_memory().dead_peer(), -1);
}

TEST_F(DeadPeerTest, APidOfAnotherNamespaceSaysNothing) {
  let_die([] {});
  node_memory().control().peers[1].pid_namespace ^= 1;
  EXPECT_EQ(node_memory().dead_peer(), -1);
}

TEST_F(DeadPeerTest, AWaiterForItsMutexEndsTheJobWithAMessage) {
  auto* mutex = static_cast<NodeMutex*>(take(sizeof(NodeMutex)));
  mutex_initialise(mutex);
  let_die([&] { mutex_lock(mutex, 1, 0); });
  EXPECT_DEATH(mutex_lock(mutex, 0, 1000), "process 1 died while this process waited for a mutex");
}

TEST_F(DeadPeerTest, AProcessBehindAWaiterForItsMutexEndsTheJobToo) {
  auto* mutex = static_cast<NodeMutex*>(take(sizeof(NodeMutex)));
  mutex_initialise(mutex);
  // The dead process drew the first ticket and died in the queue; a live process holds the mutex.
  let_die([&] { mutex->tail.fetch_add(1); });
  mutex_lock(mutex, 0, 0);
  EXPECT_DEATH(mutex_lock(mutex, 0, 1000), "process 1 died while this process waited for a mutex");
}

TEST_F(DeadPeerTest, AWaiterForItAtABarrierEndsTheJobWithAMessage) {
  auto* barrier = static_cast<Barrier*>(take(sizeof(Barrier)));
  std::memset(static_cast<void*>(barrier), 0, sizeof *barrier);
  let_die([] {});
  EXPECT_DEATH(barrier_wait(barrier, 2), "process 1 died while this process waited for a barrier");
}

TEST_F(DeadPeerTest, AWaiterForItsAccumulateEndsTheJobWithAMessage) {
  auto* element = static_cast<long*>(take(sizeof(long)));
  AccumulateLock* locks = node_memory().accumulate_locks();
  let_die([&] { accumulate_lock(accumulate_lock_of(locks, reinterpret_cast<std::uintptr_t>(element))); });
  const long one = 1;
  const Accumulator accumulator(locks, AccType::kLong, &one);
  EXPECT_DEATH(accumulator.add(element, &one, sizeof one),
               "process 1 died while this process waited for an accumulate");
}

}  // namespace
}  // namespace armci::node
