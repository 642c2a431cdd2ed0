// The messages that operations take, and failures, over the network of testing/network.h.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/testing/area.h"
#include "impl/engine/testing/network.h"

namespace armci::engine {
namespace {

using testing::area;
using testing::memory;
using testing::Network;
using testing::NetworkOptions;

std::uint64_t last_word = 0;

// Puts a word that no test has put before.
Status put_word(Client& client, char* place, How how) {
  ++last_word;
  return client.put({1, nullptr}, place, &last_word, sizeof last_word, how);
}

// An address at which no region has memory: servers refuse requests for it.
char* nowhere() { return memory() + (std::size_t{1} << 29); }

std::uint64_t word_at(const char* place) {
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof word);
  return word;
}

void wait_for(Client& client, std::uint64_t operation) {
  for (bool done = operation == 0; !done;) ASSERT_TRUE(client.test(operation, &done).ok());
}

// Passes of the progress thread until it would sleep.
void pass_until_idle(Client& client) {
  Client::Progress found = Client::Progress::kPending;
  for (int pass = 0; found != Client::Progress::kIdle; ++pass) {
    ASSERT_LT(pass, 1000) << "a held batch keeps no thread busy";
    ASSERT_TRUE(client.progress(&found).ok());
  }
}

TEST(EngineMessages, an_aggregate_of_a_thousand_doubles_takes_few) {
  for (const bool background : {true, false}) {
    for (const bool rdma : {true, false}) {
      Network network(
          {.rdma = rdma, .request_bytes = 8192, .reply_bytes = 8192, .requests = 16, .background = background}, 1);
      Client& client = network.client(0);
      std::vector<double> from(1000, 1.5);
      std::uint64_t operation = 0;
      for (std::size_t i = 0; i < from.size(); ++i) {
        ASSERT_TRUE(client.put({1, nullptr}, area(0, 1) + i * 16, &from[i], sizeof from[i], {&operation, true}).ok());
      }
      EXPECT_EQ(network.wire(0).messages(), 2U);
      ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
      EXPECT_EQ(network.wire(0).messages(), 3U);  // 24 bytes each, and 8192 in a request
      ASSERT_TRUE(client.flush(1).ok());
      EXPECT_EQ(network.wire(0).messages(), 3U);
      EXPECT_EQ(*reinterpret_cast<double*>(area(0, 1) + 999 * 16), 1.5);
      ASSERT_TRUE(network.close().ok());
    }
  }
}

// A program may ask for a few messages, and lose the core in the middle.
TEST(EngineMessages, the_batch_of_an_aggregate_waits_for_its_program) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::array<std::uint64_t, 3> operations{};
  ASSERT_TRUE(put_word(client, area(0, 1), {&operations[0], true}).ok());
  const std::uint64_t first = last_word;
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&operations[1], true}).ok());
  // A get from another server gives the progress thread something to do.
  std::uint64_t other = 0;
  std::uint64_t got_other = 0;
  ASSERT_TRUE(client.get({2, nullptr}, area(0, 2), &got_other, sizeof got_other, {&other, false}).ok());
  ASSERT_NO_FATAL_FAILURE(pass_until_idle(client));
  EXPECT_EQ(network.wire(0).messages(), 1U);
  // A small store that nothing is waited for joins, and has to leave by itself.
  ASSERT_TRUE(put_word(client, area(0, 1) + 8, {&operations[2], false}).ok());
  EXPECT_EQ(operations[2], 0U);
  Client::Progress found = Client::Progress::kIdle;
  for (int pass = 0; pass < 2; ++pass) ASSERT_TRUE(client.progress(&found).ok());
  EXPECT_EQ(network.wire(0).messages(), 2U);
  for (const std::uint64_t operation : operations) ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
  EXPECT_EQ(got, first);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineMessages, a_wait_sends_the_batch_that_it_waits_for) {
  for (const bool background : {true, false}) {
    Network network({.background = background}, 1);
    Client& client = network.client(0);
    std::uint64_t got = 0;
    std::array<std::uint64_t, 2> operations{};
    ASSERT_TRUE(put_word(client, area(0, 1), {&operations[0], true}).ok());
    ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&operations[1], true}).ok());
    ASSERT_EQ(network.wire(0).messages(), 0U);
    ASSERT_TRUE(client.wait(operations[1]).ok());
    EXPECT_EQ(network.wire(0).messages(), 1U);
    EXPECT_EQ(got, last_word);
    for (const std::uint64_t operation : operations) EXPECT_TRUE(client.wait(operation).ok()) << "it has ended";
    ASSERT_TRUE(network.close().ok());
  }
}

// Without it each longer one would wait for the batch before it.
TEST(EngineMessages, longer_operations_of_an_aggregate_follow_its_batch) {
  Network network({.rdma = true, .request_bytes = 8192, .reply_bytes = 8192, .requests = 16}, 1);
  Client& client = network.client(0);
  std::vector<char> data(6000, 'a');
  std::uint64_t operation = 0;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(client.put({1, nullptr}, area(0, 1) + i * 8, data.data(), 8, {&operation, true}).ok());
    ASSERT_TRUE(client.put({1, nullptr}, area(0, 1) + 1024, data.data(), data.size(), {&operation, true}).ok());
  }
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(network.wire(0).messages(), 4U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineMessages, a_fence_ends_an_aggregate_that_nothing_waits_for) {
  Network network({.background = false}, 1);
  Client& client = network.client(0);
  std::uint64_t operation = 0;
  ASSERT_TRUE(put_word(client, area(0, 1), {&operation, true}).ok());
  ASSERT_TRUE(client.flush_all().ok());
  EXPECT_EQ(word_at(area(0, 1)), last_word);
  bool done = false;
  ASSERT_TRUE(client.test(operation, &done).ok());
  EXPECT_TRUE(done);
  ASSERT_TRUE(network.close().ok());
}

// The program may never call again.
TEST(EngineMessages, without_a_progress_thread_a_complete_store_has_left) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Network network({.background = false}, seed);
    Client& client = network.client(0);
    std::uint64_t operation = 0;
    ASSERT_TRUE(put_word(client, area(0, 1), {&operation, false}).ok());
    EXPECT_EQ(operation, 0U);
    EXPECT_EQ(network.wire(0).messages(), 1U);
    EXPECT_FALSE(network.wire(0).unsent());
    ASSERT_TRUE(put_word(client, area(0, 1), {&operation, true}).ok());
    EXPECT_NE(operation, 0U) << "the wait sends the batch";
    ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
    EXPECT_EQ(network.wire(0).messages(), 2U);
    EXPECT_FALSE(network.wire(0).unsent());
    ASSERT_TRUE(network.close().ok());
  }
}

TEST(EngineMessages, a_batch_travels_with_its_signal) {
  Network network({}, 1);
  Client& client = network.client(0);
  const std::uint64_t value = 7;
  std::uint64_t operation = 0;
  std::memset(area(0, 1), 0, 64);
  ASSERT_TRUE(put_word(client, area(0, 1), {&operation, false}).ok());
  auto* const word = reinterpret_cast<std::uint64_t*>(area(0, 1) + 8);
  ASSERT_TRUE(
      client.put_signal({1, nullptr}, area(0, 1) + 16, &value, sizeof value, {word, 1, node::SignalOp::kSet, nullptr})
          .ok());
  EXPECT_EQ(network.wire(0).messages(), 1U);
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(network.wire(0).messages(), 1U) << "a flush sends nothing";
  EXPECT_EQ(*word, 1U);
  ASSERT_TRUE(network.close().ok());
}

void signal_often(Network& network, int times) {
  auto* const word = reinterpret_cast<std::uint64_t*>(area(0, 1));
  const std::uint64_t before = *word;
  for (int i = 0; i < times; ++i) {
    ASSERT_TRUE(
        network.client(0).put_signal({1, nullptr}, nullptr, nullptr, 0, {word, 1, node::SignalOp::kAdd, nullptr}).ok());
  }
  bool any = false;
  const auto times_here = [&] { return *word - before; };
  for (int poll = 0; poll < 1000; ++poll) ASSERT_TRUE(network.wire(0).poll(&any).ok());
  ASSERT_EQ(times_here(), static_cast<std::uint64_t>(times)) << "executed without a wait of the origin";
}

TEST(EngineMessages, a_server_tells_the_count_of_signals_when_it_is_asked) {
  Network network({.requests = 8, .counts_on_demand = true, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::memset(area(0, 1), 0, 64);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 3));
  EXPECT_EQ(network.replies(), 0U);
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(network.wire(0).messages(), 4U);
  EXPECT_EQ(network.replies(), 1U);
  ASSERT_TRUE(client.flush_all().ok());
  EXPECT_EQ(network.wire(0).messages(), 4U) << "the count is known";
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 1));
  ASSERT_TRUE(put_word(client, area(0, 1) + 8, {}).ok());
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(network.wire(0).messages(), 6U) << "the count of the put counts the signal";
  EXPECT_EQ(network.replies(), 2U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineMessages, a_store_in_pieces_has_one_count) {
  for (const bool counts_on_demand : {true, false}) {
    Network network({.request_bytes = 1024, .requests = 16, .counts_on_demand = counts_on_demand}, 1);
    Client& client = network.client(0);
    ASSERT_TRUE(client.put({1, nullptr}, area(0, 1), area(0, 2), 4000, {}).ok());
    ASSERT_TRUE(client.flush(1).ok());
    EXPECT_EQ(network.wire(0).messages(), 5U);
    EXPECT_TRUE(!counts_on_demand || network.replies() == 1) << network.replies();
    EXPECT_EQ(std::memcmp(area(0, 1), area(0, 2), 4000), 0);
    ASSERT_TRUE(network.close().ok());
  }
}

// The network may hold the end of a signal until it is polled.
TEST(EngineMessages, the_progress_thread_polls_until_it_knows_that_a_signal_is_executed) {
  Network network({.requests = 8, .counts_on_demand = true, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::memset(area(0, 1), 0, 64);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 1));
  EXPECT_EQ(network.wakes(), 1);
  Client::Progress found = Client::Progress::kIdle;
  for (int pass = 0; pass < 50; ++pass) {
    ASSERT_TRUE(client.progress(&found).ok());
    ASSERT_EQ(found, Client::Progress::kLater);
  }
  EXPECT_EQ(network.wire(0).messages(), 1U);
  ASSERT_NO_FATAL_FAILURE(pass_until_idle(client));
  EXPECT_EQ(network.wire(0).messages(), 2U) << "one request for the count";
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(network.wire(0).messages(), 2U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineMessages, a_server_tells_the_count_of_signals_before_the_credits_are_used_up) {
  Network network({.requests = 8, .counts_on_demand = true}, 1);
  std::memset(area(0, 1), 0, 64);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 5));
  EXPECT_EQ(network.replies(), 0U);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 1));
  EXPECT_EQ(network.replies(), 1U);
  EXPECT_EQ(network.wire(0).messages(), 6U);
  ASSERT_TRUE(network.close().ok());
}

// The next transfer waits for the count, so the server reports it without a request.
TEST(EngineMessages, after_a_transfer_by_rdma_a_server_reports_the_count_of_a_signal_by_itself) {
  Network network({.rdma = true, .requests = 8, .counts_on_demand = true, .sends_at_once = true}, 1);
  Client& client = network.client(0);
  std::memset(area(0, 1), 0, 64);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 1));
  EXPECT_EQ(network.replies(), 0U);
  std::uint64_t got = 0;
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {}).ok());
  EXPECT_EQ(network.wire(0).messages(), 2U) << "the signal and a request for its count";
  EXPECT_EQ(network.replies(), 1U);
  ASSERT_NO_FATAL_FAILURE(signal_often(network, 1));
  EXPECT_EQ(network.replies(), 2U);
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {}).ok());
  EXPECT_EQ(network.wire(0).messages(), 3U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineMessages, puts_and_gets_of_one_handle_share_a_request) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::uint64_t put = 0;
  std::uint64_t get = 0;
  ASSERT_TRUE(put_word(client, area(0, 1), {&put, true}).ok());
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&get, true}).ok());
  EXPECT_EQ(network.wire(0).messages(), 0U);
  ASSERT_NO_FATAL_FAILURE(wait_for(client, get));
  EXPECT_EQ(network.wire(0).messages(), 1U);
  EXPECT_EQ(got, last_word) << "entries are executed in their order";
  ASSERT_TRUE(network.close().ok());
}

// --- failures

TEST(EngineFailures, a_lost_server_fails_what_waits_for_it_and_nothing_else) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&operation, false}).ok());
  network.wire(0).lose(1, 42);
  bool done = false;
  EXPECT_FALSE(client.test(operation, &done).ok());
  EXPECT_TRUE(done) << "the buffer is the program's again";
  EXPECT_NE(std::string(last_cause().text).find("error 42"), std::string::npos);
  EXPECT_FALSE(client.put({1, nullptr}, area(0, 1), &got, sizeof got, {}).ok());
  EXPECT_FALSE(client.flush(1).ok());
  EXPECT_TRUE(client.put({2, nullptr}, area(0, 2), &got, sizeof got, {}).ok());
  EXPECT_TRUE(client.flush(2).ok());
  EXPECT_FALSE(client.flush_all().ok());
}

TEST(EngineFailures, a_wait_tells_of_a_failure_once) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::array<std::uint64_t, 2> got{};
  std::array<std::uint64_t, 2> operations{};
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got[0], sizeof got[0], {&operations[0], false}).ok());
  network.wire(0).lose(1, 42);
  EXPECT_FALSE(client.wait(operations[0]).ok());
  EXPECT_NE(std::string(last_cause().text).find("error 42"), std::string::npos);
  EXPECT_TRUE(client.wait(operations[0]).ok());
  ASSERT_TRUE(client.get({2, nullptr}, area(0, 2), &got[1], sizeof got[1], {&operations[1], true}).ok());
  network.wire(0).fail_next_send();
  EXPECT_FALSE(client.wait(operations[1]).ok());
  bool done = false;
  EXPECT_TRUE(client.test(operations[1], &done).ok());
  EXPECT_TRUE(done) << "the buffer is the program's again";
}

TEST(EngineFailures, an_aggregate_for_a_lost_server_ends) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t got = 0;
  std::array<std::uint64_t, 4> operations{};
  ASSERT_TRUE(put_word(client, area(0, 1), {&operations[0], true}).ok());
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &got, sizeof got, {&operations[1], true}).ok());
  ASSERT_TRUE(put_word(client, area(0, 2), {&operations[2], true}).ok());
  ASSERT_TRUE(client.get({2, nullptr}, area(0, 2), &got, sizeof got, {&operations[3], true}).ok());
  network.wire(0).lose(1, 42);
  network.wire(0).lose(2, 43);
  EXPECT_FALSE(client.wait(operations[1]).ok());
  EXPECT_NE(std::string(last_cause().text).find("error 42"), std::string::npos);
  EXPECT_TRUE(client.wait(operations[0]).ok()) << "its flush tells of the failure";
  EXPECT_FALSE(client.flush(1).ok());
  bool done = false;
  EXPECT_FALSE(client.test(operations[3], &done).ok());
  EXPECT_NE(std::string(last_cause().text).find("error 43"), std::string::npos);
  EXPECT_TRUE(done) << "the buffer is the program's again";
  EXPECT_TRUE(client.test(operations[2], &done).ok());
  EXPECT_TRUE(done);
}

TEST(EngineFailures, a_request_that_was_not_sent_has_no_effect) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t before = 0;
  std::memset(area(0, 1), 0, 64);
  const RequestHeader add = atomic_header(area(0, 1), {node::RmwOp::kAdd, 8, 5, 0});
  network.wire(0).fail_next_send();
  EXPECT_FALSE(client.atomic(1, add, &before, {}).ok());
  network.wire(0).fail_next_send();
  EXPECT_FALSE(put_word(client, area(0, 1) + 8, {}).ok());
  EXPECT_TRUE(client.flush(1).ok()) << "the call has told of the failure";
  ASSERT_TRUE(client.atomic(1, add, &before, {}).ok());
  EXPECT_EQ(before, 0U);
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineFailures, a_batch_that_was_not_sent_fails_the_next_flush) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t operation = 0;
  ASSERT_TRUE(put_word(client, area(0, 1), {&operation, false}).ok());
  network.wire(0).fail_next_send();
  EXPECT_FALSE(client.flush(1).ok());
  EXPECT_FALSE(client.flush(1).ok());
  EXPECT_TRUE(client.flush(1).ok()) << "it is told once";
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineFailures, an_aggregate_that_was_not_sent_fails_its_get_and_the_next_flush) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t value = 3;
  std::array<std::uint64_t, 2> operations{};
  ASSERT_TRUE(put_word(client, area(0, 1), {&operations[0], true}).ok());
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &value, sizeof value, {&operations[1], true}).ok());
  network.wire(0).fail_next_send();
  bool done = false;
  EXPECT_FALSE(client.test(operations[0], &done).ok());
  EXPECT_FALSE(client.test(operations[1], &done).ok());
  EXPECT_TRUE(done);
  EXPECT_TRUE(client.test(operations[0], &done).ok());
  EXPECT_TRUE(done);
  EXPECT_FALSE(client.flush(1).ok());
  EXPECT_TRUE(client.flush(1).ok()) << "it is told once";
  ASSERT_NO_FATAL_FAILURE(pass_until_idle(client));
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineFailures, an_open_aggregate_ends_with_its_client) {
  Network network({.background = false}, 1);
  std::uint64_t operation = 0;
  ASSERT_TRUE(put_word(network.client(0), area(0, 1), {&operation, true}).ok());
  ASSERT_TRUE(network.close().ok());
  EXPECT_EQ(word_at(area(0, 1)), last_word);
}

// Other replies, which count the request too, may overtake the refusal.
TEST(EngineFailures, no_flush_misses_a_refused_store) {
  const NetworkOptions networks[] = {{.keeps_order = false, .keeps_place = false, .requests = 8},
                                     {.keeps_order = false, .keeps_place = false, .rdma = true, .requests = 8},
                                     {.servers = 4, .cluster = 4, .requests = 8},
                                     {.servers = 4, .cluster = 4, .keeps_order = false, .keeps_place = false},
                                     {.servers = 4, .cluster = 3, .rdma = true, .replies_to_each = true},
                                     {.servers = 4, .cluster = 4, .requests = 8, .counts_on_demand = true}};
  const node::Signal signal{reinterpret_cast<std::uint64_t*>(nowhere()), 1, node::SignalOp::kSet, nullptr};
  for (const NetworkOptions& options : networks) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      Network network(options, seed);
      Client& client = network.client(0);
      std::uint64_t value = 0;
      for (int target = 1; target < options.servers; ++target) {
        ASSERT_TRUE(client.put_signal({target, nullptr}, nowhere(), nullptr, 0, signal).ok());
        if (seed % 2 == 0) {
          ASSERT_TRUE(client.get({target, nullptr}, area(0, target), &value, sizeof value, {}).ok());
        }
      }
      for (int target = 1; target < options.servers; ++target) {
        EXPECT_FALSE(client.flush(target).ok()) << "target " << target << ", seed " << seed;
        EXPECT_TRUE(client.flush(target).ok()) << "the client reports a refusal once";
      }
      ASSERT_TRUE(network.close().ok());
    }
  }
}

TEST(EngineFailures, a_refused_batch_fails_its_get_and_the_next_flush) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t value = 0;
  std::array<std::uint64_t, 2> operations{};
  ASSERT_TRUE(client.put({1, nullptr}, nowhere(), &value, sizeof value, {&operations[0], true}).ok());
  ASSERT_TRUE(client.get({1, nullptr}, area(0, 1), &value, sizeof value, {&operations[1], true}).ok());
  bool done = false;
  Status got;
  for (int tests = 0; !done; ++tests) {
    ASSERT_LT(tests, 100000);
    got = client.test(operations[1], &done);
  }
  EXPECT_FALSE(got.ok());
  EXPECT_FALSE(client.flush(1).ok()) << "its store is lost";
  EXPECT_TRUE(client.flush(1).ok()) << "the client reports a refusal once";
  ASSERT_TRUE(network.close().ok());
}

TEST(EngineFailures, a_refused_request_fails_its_operation_or_the_next_flush) {
  Network network({}, 1);
  Client& client = network.client(0);
  std::uint64_t value = 0;
  EXPECT_FALSE(client.get({1, nullptr}, nowhere(), &value, sizeof value, {}).ok());
  EXPECT_TRUE(client.put({1, nullptr}, nowhere(), &value, sizeof value, {}).ok());
  EXPECT_FALSE(client.flush(1).ok());
  EXPECT_TRUE(client.flush(1).ok());
  ASSERT_TRUE(network.close().ok());
}

}  // namespace
}  // namespace armci::engine
