#include "impl/mpi-rma/bounce_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

// Under the address sanitizer, too, too much memory is no memory, not the end.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace armci::rma {
namespace {

TEST(BouncePoolTest, GivesWhatCameBack) {
  BouncePool pool;
  BouncePool::Buffer buffer = pool.take(10000);
  char* const memory = buffer.get();
  EXPECT_EQ(pool.kept_bytes(), 0u);
  buffer.reset();
  EXPECT_GE(pool.kept_bytes(), 10000u);
  EXPECT_EQ(pool.take(9000).get(), memory);
}

TEST(BouncePoolTest, SmallBuffersShareOneBlock) {
  BouncePool pool;
  for (int i = 0; i < 1000; ++i) pool.take(64).reset();
  EXPECT_EQ(pool.kept_bytes(), 4096u);
}

TEST(BouncePoolTest, TwoAtATimeAreTwo) {
  BouncePool pool;
  const BouncePool::Buffer one = pool.take(100);
  const BouncePool::Buffer other = pool.take(100);
  std::memset(one.get(), 1, 100);
  std::memset(other.get(), 2, 100);
  EXPECT_EQ(one.get()[99], 1);
}

TEST(BouncePoolTest, ALargeBlockIsNoSmallBuffer) {
  BouncePool pool;
  pool.take(std::size_t{1} << 20).reset();
  const BouncePool::Buffer small = pool.take(10);
  EXPECT_GE(pool.kept_bytes(), std::size_t{1} << 20);
}

TEST(BouncePoolTest, KeepsNoMoreThanItMay) {
  BouncePool pool(8192);
  std::vector<BouncePool::Buffer> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(pool.take(4096));
  buffers.clear();
  EXPECT_EQ(pool.kept_bytes(), 8192u);
}

TEST(BouncePoolTest, AClearedPoolKeepsNothing) {
  BouncePool pool;
  const BouncePool::Buffer in_use = pool.take(100);
  pool.take(100).reset();
  pool.clear();
  EXPECT_EQ(pool.kept_bytes(), 0u);
  std::memset(in_use.get(), 3, 100);
}

TEST(BouncePoolTest, ABufferOutlivesItsPool) {
  std::optional<BouncePool> pool(std::in_place);
  const BouncePool::Buffer buffer = pool->take(64);
  pool.reset();
  std::memset(buffer.get(), 7, 64);
  EXPECT_EQ(buffer.get()[63], 7);
}

TEST(BouncePoolTest, OutOfMemoryIsNoBuffer) { EXPECT_EQ(BouncePool().take(std::size_t{1} << 62), nullptr); }

TEST(BouncePoolTest, ThreadsDoNotShare) {
  BouncePool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const BouncePool::Buffer buffer = pool.take(64 + i % 9000);
        std::memset(buffer.get(), t, 64);
        for (std::size_t byte = 0; byte < 64; ++byte) ASSERT_EQ(buffer.get()[byte], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace armci::rma
