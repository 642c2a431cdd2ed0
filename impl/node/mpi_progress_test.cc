// Which threads poll MPI while they wait, and when. MPI itself is replaced: the calls are counted.
#include "impl/node/mpi_progress.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "impl/node/waiter.h"

namespace {

int level = MPI_THREAD_MULTIPLE;
std::atomic<int> polls{0};

}  // namespace

extern "C" {

int MPI_Query_thread(int* provided) {
  *provided = level;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  *made = comm;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Iprobe(int, int, MPI_Comm, int* found, MPI_Status*) {
  ++polls;
  *found = 0;
  return MPI_SUCCESS;
}
}

namespace armci::node {
namespace {

constexpr std::int64_t kWaitUs = 20000;

class MpiProgressTest : public testing::Test {
 protected:
  void TearDown() override {
    stop_mpi_progress();
    set_spin_policy(1, 1, -1);
  }

  static void start(int thread_level) {
    level = thread_level;
    ASSERT_EQ(start_mpi_progress(MPI_COMM_WORLD), MPI_SUCCESS);
    polls = 0;
  }

  // Polls of a thread that waits.
  static int wait_long(WaitKind kind) {
    const int before = polls;
    Waiter waiter(kind);
    for (const std::int64_t start = now_us(); now_us() - start < kWaitUs;) waiter.step();
    return polls - before;
  }

  static int wait_in_another_thread(WaitKind kind) {
    int made = 0;
    std::thread([&] { made = wait_long(kind); }).join();
    return made;
  }

  // Whether a thread that waits polls at last. On a busy machine it may yield the core for long before.
  static bool polls_in_wait(WaitKind kind) {
    constexpr std::int64_t kHangUs = 20'000'000;
    const int before = polls;
    Waiter waiter(kind);
    for (const std::int64_t start = now_us(); polls == before && now_us() - start < kHangUs;) waiter.step();
    return polls > before;
  }

  static bool polls_in_wait_of_another_thread(WaitKind kind) {
    bool made = false;
    std::thread([&] { made = polls_in_wait(kind); }).join();
    return made;
  }
};

TEST_F(MpiProgressTest, AThreadThatWaitsPolls) {
  start(MPI_THREAD_MULTIPLE);
  for (const WaitKind kind : {WaitKind::kBarrier, WaitKind::kMutex, WaitKind::kNotification, WaitKind::kReply}) {
    EXPECT_TRUE(polls_in_wait(kind)) << wait_name(kind);
    EXPECT_TRUE(polls_in_wait_of_another_thread(kind)) << wait_name(kind);
  }
}

TEST_F(MpiProgressTest, AtFunneledOnlyTheMainThreadPolls) {
  start(MPI_THREAD_FUNNELED);
  EXPECT_TRUE(polls_in_wait(WaitKind::kBarrier));
  EXPECT_EQ(wait_in_another_thread(WaitKind::kBarrier), 0);
  EXPECT_EQ(wait_in_another_thread(WaitKind::kReply), 0);
}

TEST_F(MpiProgressTest, AtSerializedTheThreadThatWaitsPolls) {
  start(MPI_THREAD_SERIALIZED);
  EXPECT_TRUE(polls_in_wait_of_another_thread(WaitKind::kBarrier));
}

TEST_F(MpiProgressTest, AServerNeverPolls) {
  start(MPI_THREAD_MULTIPLE);
  EXPECT_EQ(wait_long(WaitKind::kRequests), 0);
  EXPECT_EQ(wait_long(WaitKind::kWork), 0);
}

TEST_F(MpiProgressTest, NothingPollsBeforeTheStartAndAfterTheEnd) {
  polls = 0;
  EXPECT_EQ(wait_long(WaitKind::kBarrier), 0);
  start(MPI_THREAD_MULTIPLE);
  stop_mpi_progress();
  EXPECT_EQ(wait_long(WaitKind::kBarrier), 0);
}

TEST_F(MpiProgressTest, AThreadThatWaitsMakesThePassOfTheTransport) {
  start(MPI_THREAD_MULTIPLE);
  std::atomic<int> passes{0};
  set_mpi_pass([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &passes);
  EXPECT_EQ(wait_long(WaitKind::kBarrier), passes);
  EXPECT_GT(passes, 0);
  set_mpi_pass(nullptr, nullptr);
  passes = 0;
  wait_long(WaitKind::kBarrier);
  EXPECT_EQ(passes, 0);
}

TEST_F(MpiProgressTest, AThreadWhoseWaitsAllEndInTheirBusyPartPolls) {
  start(MPI_THREAD_MULTIPLE);
  set_spin_policy(1, 1, 1000);
  for (const std::int64_t begin = now_us(); now_us() - begin < kWaitUs;) {
    Waiter waiter(WaitKind::kBarrier);
    for (int turn = 0; turn < 100; ++turn) ASSERT_TRUE(waiter.busy());
  }
  EXPECT_GT(polls, 0);
}

TEST_F(MpiProgressTest, SpinsWithoutEndDoNotKeepAThreadFromPolling) {
  start(MPI_THREAD_MULTIPLE);
  set_spin_policy(1, 1, 1 << 30);
  Waiter waiter(WaitKind::kBarrier);
  for (const std::int64_t begin = now_us(); now_us() - begin < kWaitUs;) ASSERT_TRUE(waiter.busy());
  EXPECT_GT(polls, 0);
}

TEST_F(MpiProgressTest, AShortWaitForANetworkPollsWhenTheLastPollWasLongAgo) {
  start(MPI_THREAD_MULTIPLE);
  for (const std::int64_t begin = now_us(); now_us() - begin < kWaitUs;) {
    Waiter waiter(WaitKind::kReply);
    ASSERT_TRUE(waiter.busy());
  }
  EXPECT_GT(polls, 0);
}

TEST_F(MpiProgressTest, AThreadThatSleepsOnAWordWakesToPoll) {
  start(MPI_THREAD_MULTIPLE);
  Waiter waiter(WaitKind::kBarrier);
  while (waiter.busy()) {
  }
  const std::atomic<std::uint32_t> word{0};
  constexpr std::int64_t kLongUs = 60000000;
  const std::int64_t begin = now_us();
  waiter.sleep_on(&word, 0, kLongUs);
  EXPECT_LT(now_us() - begin, kLongUs / 2);
}

}  // namespace
}  // namespace armci::node
