// THR: several threads of a process as origins of their own.

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr int kThreads = 3;

void RunThreads(const std::function<void(int)>& body, int count = kThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

CLAUSE_TEST(THR, THR1_each_thread_sees_its_own_operations_in_order, "THR-1", "ORD-4", NeedsThreadMultiple{},
            DeadlineSeconds(60)) {
  constexpr std::size_t kSlot = 64 << 10;
  Region region(static_cast<std::size_t>(Np()) * kThreads * kSlot);
  Sync();
  RunThreads([&](int thread) {
    Rng rng(HashName("threads") + static_cast<std::uint64_t>(Me() * kThreads + thread));
    Bytes image(kSlot, 0);
    for (int step = 0; step < Scaled(4000, 400); ++step) {
      const int target = thread % Np();
      char* slot = region.At(target, static_cast<std::size_t>(Me() * kThreads + thread) * kSlot);
      const Plan plan = PlanOfSize(kShapes[rng.Below(3)], 8 << rng.Below(12), 8);
      Bytes local(static_cast<std::size_t>(std::max(plan.SrcEnd(), plan.DstEnd())));
      if (rng.Chance(1, 2)) {
        rng.Fill(local.data(), local.size());
        ModelCopy(plan, local.data(), image.data());
        // With handles of its own, between fences: non-blocking stores are unordered.
        const Mode mode = rng.Chance(1, 2) ? Mode::kBlocking : Mode::kNonblocking;
        if (mode != Mode::kBlocking) ARMCI_Fence(target);
        EXPECT_EQ(Move(plan, Op::kPut, mode, local.data(), slot, target), 0);
        if (mode != Mode::kBlocking) ARMCI_Fence(target);
      } else {
        Bytes expected = local;
        ModelCopy(plan, image.data(), expected.data());
        EXPECT_EQ(Move(plan, Op::kGet, Mode::kNonblocking, slot, local.data(), target), 0);
        EXPECT_TRUE(SameBytes(expected.data(), local.data(), local.size())) << "thread " << thread;
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// More threads than the lowest limit on pending operations: none may keep a buffer that another one needs to complete.
CLAUSE_TEST(THR, THR1_long_transfers_of_many_threads_end, "THR-1", "CMPL-6", NeedsThreadMultiple{},
            DeadlineSeconds(60)) {
  constexpr int kMany = 8;
  constexpr std::size_t kSlot = 64 << 10;
  Region region(static_cast<std::size_t>(Np()) * kMany * kSlot);
  Sync();
  const int target = (Me() + 1) % Np();
  RunThreads(
      [&](int thread) {
        char* const slot = region.At(target, static_cast<std::size_t>(Me() * kMany + thread) * kSlot);
        Rng rng(HashName("many threads") + static_cast<std::uint64_t>(Me() * kMany + thread));
        Bytes data(kSlot);
        Bytes back(kSlot);
        for (int round = 0; round < Scaled(100, 20); ++round) {
          rng.Fill(data.data(), data.size());
          EXPECT_EQ(ARMCI_Put(data.data(), slot, static_cast<int>(kSlot), target), 0);
          EXPECT_EQ(ARMCI_Get(slot, back.data(), static_cast<int>(kSlot), target), 0);
          EXPECT_TRUE(SameBytes(data.data(), back.data(), kSlot)) << "thread " << thread;
          if (::testing::Test::HasFailure()) return;
        }
      },
      kMany);
}

CLAUSE_TEST(THR, THR1_accumulates_and_atomics_of_threads_are_exact, "THR-1", "ACC-2", "RMW-3", NeedsThreadMultiple{},
            DeadlineSeconds(60)) {
  constexpr int kElements = 100;
  const int rounds = Scaled(40000, 4000) / Np();  // all together the same number, however many contend
  Region region((kElements + 1) * 8);
  const int target = Np() - 1;
  std::vector<std::atomic<int>> drawn(static_cast<std::size_t>(rounds * kThreads * Np()));
  Sync();
  RunThreads([&](int) {
    long one = 1;
    std::vector<long> source(kElements, 1);
    long previous = -1;
    for (int i = 0; i < rounds; ++i) {
      EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &one, source.data(), region.At(target), kElements * 8, target), 0);
      long ticket = -1;
      EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, region.As<long>(target, kElements), 1, target), 0);
      EXPECT_GT(ticket, previous);
      previous = ticket;
      if (ticket >= 0 && ticket < static_cast<long>(drawn.size())) ++drawn[static_cast<std::size_t>(ticket)];
    }
  });
  Sync();
  const std::vector<int> all = SumOverRanks(std::vector<int>(drawn.begin(), drawn.end()));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 1) << "ticket " << i;
  for (int i = 0; i < kElements; ++i) {
    ASSERT_EQ(ARMCI_GetValueLong(region.As<long>(target, static_cast<std::size_t>(i)), target),
              static_cast<long>(rounds) * kThreads * Np());
  }
}

CLAUSE_TEST(THR, THR1_threads_exclude_each_other_by_mutex, "THR-1", "MUTEX-2", NeedsThreadMultiple{},
            DeadlineSeconds(60)) {
  const int rounds = Scaled(20000, 1000) / Np();
  Region region(64);
  Mutexes mutexes(1);
  const int host = Np() / 2;
  Sync();
  RunThreads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      Locked held(0, host);
      long value = -1;
      EXPECT_EQ(ARMCI_Get(region.At(host), &value, 8, host), 0);
      ++value;
      EXPECT_EQ(ARMCI_Put(&value, region.At(host), 8, host), 0);
      ARMCI_Fence(host);
    }
  });
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(region.At(host), host), static_cast<long>(rounds) * kThreads * Np());
}

CLAUSE_TEST(THR, THR1_message_passing_between_threads, "THR-1", "ORD-1", NeedsThreadMultiple{}, DeadlineSeconds(60)) {
  // In every process one thread writes data and flag to the right neighbour, another reads what comes from the left.
  const long rounds = Scaled(100000, 10000);
  Region region(256);
  const int right = (Me() + 1) % Np();
  Sync();
  RunThreads([&](int thread) {
    if (thread == 0) {
      for (long round = 1; round <= rounds; ++round) {
        EXPECT_EQ(ARMCI_Put(&round, region.At(right), 8, right), 0);
        EXPECT_EQ(ARMCI_PutValueLong(round, region.At(right, 128), right), 0);
      }
      ARMCI_Fence(right);
    } else {
      WaitUntil(
          [&] {
            const long flag =
                thread == 1 ? LoadShared<long>(region.At(Me(), 128)) : ARMCI_GetValueLong(region.At(Me(), 128), Me());
            const long data =
                thread == 1 ? LoadShared<long>(region.At(Me())) : ARMCI_GetValueLong(region.At(Me()), Me());
            EXPECT_GE(data, flag) << "thread " << thread;
            return flag == rounds || ::testing::Test::HasFailure();
          },
          "the left neighbour's last round");
    }
  });
}

// Thread 0 keeps its aggregate open until the aggregates of the other threads, to the same target, are complete.
CLAUSE_TEST(THR, THR1_aggregates_of_threads, "THR-1", "AGG-1", "CMPL-3", NeedsThreadMultiple{}, DeadlineSeconds(60)) {
  constexpr std::size_t kWords = 400;
  Region region(static_cast<std::size_t>(Np()) * kThreads * kWords * sizeof(long));
  Sync();
  for (int round = 0; round < Scaled(40, 5); ++round) {
    const int target = (Me() + round) % Np();
    std::latch opened(1);
    std::latch others(kThreads - 1);
    RunThreads([&](int thread) {
      const std::size_t slot = static_cast<std::size_t>(Me() * kThreads + thread) * kWords;
      const long first = 1'000'000L * (round + 1) + 1000L * thread;
      std::vector<long> local(kWords);
      std::iota(local.begin(), local.end(), first);
      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      ARMCI_SET_AGGREGATE_HANDLE(&handle);
      if (thread != 0) opened.wait();
      for (std::size_t i = 0; i < kWords; ++i) {
        EXPECT_EQ(ARMCI_NbPut(&local[i], region.As<long>(target, slot + i), sizeof(long), target, &handle), 0);
        if (thread == 0 && i == 0) opened.count_down();
      }
      if (thread == 0) others.wait();
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
      std::ranges::fill(local, -1L);  // local completion: the buffers may be reused
      ARMCI_Fence(target);
      EXPECT_EQ(ARMCI_Get(region.As<long>(target, slot), local.data(), kWords * sizeof(long), target), 0);
      for (std::size_t i = 0; i < kWords; ++i) EXPECT_EQ(local[i], first + static_cast<long>(i)) << "thread " << thread;
      if (thread != 0) others.count_down();
    });
    if (::testing::Test::HasFailure()) return;
  }
}

CLAUSE_TEST(THR, THR1_implicit_operations_of_threads, "THR-1", "CMPL-4", NeedsThreadMultiple{}) {
  constexpr int kCount = 300;
  Region region(static_cast<std::size_t>(Np()) * kThreads * kCount * 8);
  Sync();
  RunThreads([&](int thread) {
    std::vector<long> out(kCount);
    std::vector<long> in(kCount, -1);
    const int target = (Me() + thread) % Np();
    const std::size_t base = static_cast<std::size_t>((Me() * kThreads + thread) * kCount);
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < kCount; ++i) {
        out[static_cast<std::size_t>(i)] = 1000L * round + i;
        EXPECT_EQ(ARMCI_NbPut(&out[static_cast<std::size_t>(i)],
                              region.As<long>(target, base + static_cast<std::size_t>(i)), 8, target, nullptr),
                  0);
      }
      EXPECT_EQ(thread == 0 ? ARMCI_WaitAll() : ARMCI_WaitProc(target), 0);
      const std::vector<long> expected = out;
      std::fill(out.begin(), out.end(), -7);
      ARMCI_Fence(target);
      EXPECT_EQ(ARMCI_Get(region.As<long>(target, base), in.data(), kCount * 8, target), 0);
      EXPECT_EQ(in, expected) << "thread " << thread;
    }
  });
}

}  // namespace
}  // namespace conformance
