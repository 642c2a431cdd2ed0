// The work that a client asks of its progress thread, and does without one, over the network of testing/network.h. Each
// test makes the passes of that thread itself.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "impl/engine/testing/area.h"
#include "impl/engine/testing/network.h"
#include "impl/node/mpi_progress.h"

namespace armci::engine {
namespace {

using testing::area;
using testing::Network;
using Progress = Client::Progress;

constexpr int kLooksAtMost = 1000;  // the thread sleeps at last

Progress pass(Client& client) {
  Progress found = Progress::kIdle;
  EXPECT_TRUE(client.progress(&found).ok());
  return found;
}

// Passes until the thread would sleep without end. Returns their number.
int pass_until_idle(Client& client) {
  int passes = 1;
  while (pass(client) != Progress::kIdle) {
    if (++passes > kLooksAtMost) break;
  }
  return passes;
}

std::uint64_t begin_get(Client& client, std::uint64_t* to) {
  std::uint64_t operation = 0;
  EXPECT_TRUE(client.get({2, nullptr}, area(0, 2), to, sizeof *to, {&operation, false}).ok());
  return operation;
}

void begin_put(Client& client, char* place) {
  const std::uint64_t word = 7;
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.put({1, nullptr}, place, &word, sizeof word, {&operation, false}).ok());
  ASSERT_EQ(operation, 0U);
}

void wait_for(Client& client, std::uint64_t operation) {
  for (bool done = operation == 0; !done;) ASSERT_TRUE(client.test(operation, &done).ok());
}

TEST(EngineProgress, a_stream_of_short_messages_wakes_the_thread_once) {
  Network network({.requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  for (int round = 0; round < 200; ++round) {
    ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
    ASSERT_NO_FATAL_FAILURE(wait_for(client, begin_get(client, &got)));
    ASSERT_TRUE(client.flush(1).ok());
    ASSERT_NE(pass(client), Progress::kIdle) << "more messages are likely";
  }
  EXPECT_EQ(network.wakes(), 1);
  const int passes = pass_until_idle(client);
  EXPECT_GT(passes, 10);
  EXPECT_LT(passes, kLooksAtMost) << "a process that only computes keeps no thread awake";
  ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
  EXPECT_EQ(network.wakes(), 2) << "the thread sleeps without end";
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineProgress, the_thread_looks_for_short_messages_only_now_and_then) {
  Network network({.requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
  EXPECT_EQ(pass(client), Progress::kLater);
  EXPECT_EQ(network.wire(0).messages(), 0U) << "the batch may still grow";
  EXPECT_EQ(pass(client), Progress::kLater);
  EXPECT_EQ(network.wire(0).messages(), 1U);
  // The program calls nothing any more, and what it has begun ends.
  ASSERT_LE(pass_until_idle(client), kLooksAtMost);
  std::uint64_t stored = 0;
  std::memcpy(&stored, area(0, 1), sizeof stored);
  EXPECT_EQ(stored, 7U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineProgress, what_needs_polls_wakes_a_thread_that_looks) {
  Network network({.long_data = true, .requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
  EXPECT_EQ(pass(client), Progress::kLater);
  ASSERT_EQ(network.wakes(), 1);
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), area(0, 2), 2000, {&operation, false}).ok());
  EXPECT_EQ(network.wakes(), 2) << "a long reply";
  const Progress found = pass(client);
  EXPECT_TRUE(found == Progress::kPending || found == Progress::kBusy);
  ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
  ASSERT_TRUE(network.close().ok());
}

// A test may send the batch of an aggregate handle, and the program then compute.
TEST(EngineProgress, a_test_that_leaves_something_pending_wakes_the_thread) {
  Network network({.requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&operation, true}).ok());
  ASSERT_EQ(network.wakes(), 0) << "the batch waits for its program";
  bool done = false;
  ASSERT_TRUE(client.test(operation, &done).ok());
  ASSERT_FALSE(done) << "another seed";
  EXPECT_EQ(network.wakes(), 1);
  ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineProgress, a_batch_that_grows_slowly_leaves_before_it_is_full) {
  Network network({.request_bytes = 8192, .requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  for (int puts = 0; network.wire(0).messages() == 0; ++puts) {
    ASSERT_LT(puts, 100) << "a batch of 8000 bytes has more";
    ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
    (void)pass(client);
    // So a batch is old after some ten puts; how long the sleep really is does not matter.
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ASSERT_TRUE(client.flush(1).ok());
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineProgress, waits_for_messages_of_mpi_make_passes_of_the_server) {
  Network network({.servers = 3}, 1);
  const std::vector<char> data(128, 7);  // too long for a batch
  char* const place = area(0, 1);
  std::memset(place, 0, data.size());
  network.server(1).serve_in_mpi_waits();
  std::uint64_t operation = 0;
  ASSERT_TRUE(network.client(0).put({1, nullptr}, place, data.data(), data.size(), {&operation, false}).ok());
  for (int i = 0; i < 100; ++i) network.move();
  EXPECT_EQ(place[0], 0) << "no server has made a pass";
  node::make_mpi_pass();
  EXPECT_EQ(std::memcmp(place, data.data(), data.size()), 0);
  network.server(1).stop();
  place[0] = 0;
  ASSERT_TRUE(network.client(0).put({1, nullptr}, place, data.data(), data.size(), {&operation, false}).ok());
  for (int i = 0; i < 100; ++i) network.move();
  node::make_mpi_pass();
  EXPECT_EQ(place[0], 0) << "the server has stopped";
}

// The progress thread finds another thread in the client each time, or gets no core.
TEST(EngineProgress, calls_that_wait_send_the_batch_of_another_server) {
  Network network({.requests = 16, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::memset(area(0, 1), 0, sizeof got);
  ASSERT_NO_FATAL_FAILURE(begin_put(client, area(0, 1)));
  for (int calls = 0; got != 7; ++calls) {
    ASSERT_LT(calls, 1000) << "the put leaves";
    std::uint64_t other = 0;
    ASSERT_TRUE(client.get({2, nullptr}, area(0, 2), &other, sizeof other, {}).ok());
    std::memcpy(&got, area(0, 1), sizeof got);
  }
  ASSERT_TRUE(network.close().ok());
}

}  // namespace
}  // namespace armci::engine
