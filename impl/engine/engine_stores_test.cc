// The ways of the data of stores, over the network of testing/network.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "impl/engine/testing/area.h"
#include "impl/engine/testing/network.h"

namespace armci::engine {
namespace {

using testing::area;
using testing::Network;

void wait_for(Client& client, std::uint64_t operation) {
  for (bool done = operation == 0; !done;) ASSERT_TRUE(client.test(operation, &done).ok());
}

TEST(EngineStores, a_store_is_copied_up_to_a_length) {
  Network network({.long_data = true, .request_bytes = 1024, .copied_bytes = 2000, .requests = 16}, 1);
  Client& client = network.client(0);
  const std::vector<char> from(2001, 'c');
  const auto messages_of = [&](std::size_t bytes) {
    const std::size_t before = network.wire(0).messages();
    EXPECT_TRUE(client.put({1, nullptr}, area(0, 1), from.data(), bytes, {}).ok());
    return network.wire(0).messages() - before;
  };
  EXPECT_EQ(messages_of(200), 1U);
  EXPECT_EQ(messages_of(900), 5U) << "fits into a request, which would be slower";
  EXPECT_EQ(messages_of(2000), 10U) << "copies of 200 bytes";
  EXPECT_EQ(messages_of(2001), 5U) << "headers; their data are no requests";
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(std::string(area(0, 1), from.size()), std::string(from.begin(), from.end()));
  ASSERT_TRUE(network.close().ok());
  EXPECT_EQ(network.fault(), "");
}

TEST(EngineStores, data_of_a_zero_copy_belong_to_their_operation) {
  Network network({.zero_copy_bytes = 400, .requests = 16}, 1);
  Client& client = network.client(0);
  std::vector<char> from(2000, 'c');
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.put({1, nullptr}, area(0, 1), from.data(), 399, {&operation}).ok());
  EXPECT_EQ(network.wire(0).sent_with_data(), 0U) << "a shorter one is copied";
  ASSERT_TRUE(client.put({1, nullptr}, area(0, 1), from.data(), from.size(), {&operation}).ok());
  EXPECT_EQ(network.wire(0).sent_with_data(), 3U) << "all pieces";
  ASSERT_NE(operation, 0U) << "the network has not read the memory";
  ASSERT_NO_FATAL_FAILURE(wait_for(client, operation));
  std::fill(from.begin(), from.end(), 'd');
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(std::string(area(0, 1), from.size()), std::string(from.size(), 'c'));
  // A blocking call returns at local completion.
  ASSERT_TRUE(client.put({1, nullptr}, area(0, 1), from.data(), from.size(), {}).ok());
  std::fill(from.begin(), from.end(), 'e');
  ASSERT_TRUE(client.flush(1).ok());
  EXPECT_EQ(std::string(area(0, 1), from.size()), std::string(from.size(), 'd'));
  network.wire(0).fail_next_send();
  EXPECT_FALSE(client.put({1, nullptr}, area(0, 1), from.data(), from.size(), {}).ok());
  ASSERT_TRUE(client.flush(1).ok());
  ASSERT_TRUE(network.close().ok());
  EXPECT_EQ(network.fault(), "");
}

}  // namespace
}  // namespace armci::engine
