// Non-blocking atomics over the network of testing/network.h.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "impl/engine/testing/area.h"
#include "impl/engine/testing/network.h"

namespace armci::engine {
namespace {

using testing::area;
using testing::memory;
using testing::Network;

RequestHeader fetch_and_add(char* place, std::uint64_t operand) {
  return atomic_header(place, {node::RmwOp::kAdd, sizeof operand, operand, 0});
}

TEST(EngineAtomics, non_blocking_ones_share_a_request_and_a_reply) {
  constexpr std::size_t kAtomics = 200;
  for (const bool background : {true, false}) {
    Network network({.request_bytes = 8192, .reply_bytes = 8192, .requests = 16, .background = background}, 1);
    Client& client = network.client(0);
    std::memset(area(0, 1), 0, 64);
    std::vector<std::uint64_t> before(kAtomics, ~std::uint64_t{0});
    std::vector<std::uint64_t> operations(kAtomics);
    for (std::size_t i = 0; i < kAtomics; ++i) {
      ASSERT_TRUE(client.atomic(1, fetch_and_add(area(0, 1), 1), &before[i], {&operations[i], false}).ok());
    }
    // Without a progress thread each leaves at once.
    EXPECT_EQ(network.wire(0).messages(), background ? 0U : kAtomics);
    for (const std::uint64_t operation : operations) ASSERT_TRUE(client.wait(operation).ok());
    EXPECT_EQ(network.wire(0).messages(), background ? 1U : kAtomics);
    for (std::size_t i = 0; i < kAtomics; ++i) ASSERT_EQ(before[i], i);
    EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(area(0, 1)), kAtomics);
    ASSERT_TRUE(network.close().ok());
  }
}

TEST(EngineAtomics, a_refused_non_blocking_one_fails_when_it_is_waited_for) {
  Network network({}, 1);
  Client& client = network.client(0);
  char* const nowhere = memory() + (std::size_t{1} << 29);  // no region has memory there
  std::memset(area(0, 1), 0, 64);
  std::uint64_t before = 77;
  std::uint64_t operation = 0;
  ASSERT_TRUE(client.atomic(1, fetch_and_add(nowhere, 1), &before, {&operation, false}).ok());
  EXPECT_FALSE(client.wait(operation).ok());
  EXPECT_EQ(before, 77U);
  EXPECT_FALSE(client.flush(1).ok()) << "its batch may have lost stores";
  ASSERT_TRUE(client.atomic(1, fetch_and_add(area(0, 1), 1), &before, {}).ok());
  EXPECT_EQ(before, 0U);
  ASSERT_TRUE(network.close().ok());
}

}  // namespace
}  // namespace armci::engine
