// What can be wrong without a network: operations and their numbers, keys, what is told about transports.
#include <gtest/gtest.h>

#include <cstring>

#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/operations.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/transports.h"

namespace armci::ucx {
namespace {

using Operation = Operations::Operation;

bool has_ended(Operations* operations, std::uint64_t number) {
  Operation* failed = nullptr;
  return operations->ended(number, &failed);
}

TEST(OperationsTest, ends_with_its_last_part) {
  Operations operations;
  Operation* const whole = operations.begin("put", 1);
  const std::uint64_t number = Operations::number(whole);
  EXPECT_EQ(operations.under_way(), 0U) << "who waits for room with nothing begun is in nobody's way";
  operations.add_part(whole);
  EXPECT_EQ(operations.under_way(), 1U);
  operations.end_part(whole, UCS_OK);
  EXPECT_FALSE(has_ended(&operations, number));
  operations.end_first(whole, UCS_OK);
  EXPECT_TRUE(has_ended(&operations, number));
  EXPECT_EQ(operations.under_way(), 0U);
}

TEST(OperationsTest, number_stays_ended_when_its_place_is_taken_again) {
  Operations operations;
  Operation* const first = operations.begin("put", 1);
  const std::uint64_t number = Operations::number(first);
  operations.end_first(first, UCS_OK);
  Operation* const second = operations.begin("put", 1);
  ASSERT_EQ(second, first);
  EXPECT_TRUE(has_ended(&operations, number));
  EXPECT_FALSE(has_ended(&operations, Operations::number(second)));
}

TEST(OperationsTest, failure_is_kept_until_it_is_asked_for) {
  Operations operations;
  Operation* const whole = operations.begin("put", 3);
  const std::uint64_t number = Operations::number(whole);
  operations.add_part(whole);
  operations.end_part(whole, UCS_ERR_CONNECTION_RESET);
  operations.end_first(whole, UCS_OK);
  EXPECT_NE(operations.begin("put", 1), whole);
  Operation* failed = nullptr;
  ASSERT_TRUE(operations.ended(number, &failed));
  ASSERT_EQ(failed, whole);
  EXPECT_EQ(failed->status, UCS_ERR_CONNECTION_RESET);
  EXPECT_EQ(failed->peer, 3);
  operations.release(failed);
  EXPECT_TRUE(operations.ended(number, &failed));
  EXPECT_EQ(failed, nullptr);
}

TEST(OperationsTest, no_operation_has_the_number_of_none) {
  Operations operations;
  Operation* const one = operations.begin("put", 1);
  one->generation = UINT32_MAX;
  operations.end_first(one, UCS_OK);
  Operation* const next = operations.begin("put", 1);
  ASSERT_EQ(next, one);
  EXPECT_FALSE(has_ended(&operations, Operations::number(next)));
}

TEST(OperationsTest, no_operation_has_ended) {
  Operations operations;
  EXPECT_TRUE(has_ended(&operations, 0));
}

PackedKey key_of(std::initializer_list<unsigned char> bytes) {
  PackedKey key;
  key.set(std::data(bytes), bytes.size());
  return key;
}

bool lacks_device(const PackedKey& key) { return has_no_device(key.bytes, key.length); }

TEST(PackedKeyTest, domains_without_keys_are_no_devices) {
  EXPECT_TRUE(lacks_device(key_of({0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(lacks_device(key_of({0, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(PackedKeyTest, domain_with_a_key_is_a_device) {
  EXPECT_FALSE(lacks_device(key_of({0x01, 0, 0, 0, 0, 0, 0, 0, 0, 2, 7, 7})));
}

TEST(PackedKeyTest, key_without_room_is_left_out) {
  const unsigned char bytes[PackedKey::kBytesMax + 1] = {};
  PackedKey key;
  key.set(bytes, sizeof bytes);
  EXPECT_EQ(key.length, 0U);
  key.set(bytes, PackedKey::kBytesMax);
  EXPECT_EQ(key.length, PackedKey::kBytesMax);
}

TEST(MappedMemoryTest, holds_what_lies_in_one_piece) {
  Context context;
  ASSERT_TRUE(context.open(1, false).ok());
  MappedMemory mapped(context);
  alignas(64) char bytes[256] = {};
  ucp_mem_h first = nullptr;
  ucp_mem_h second = nullptr;
  ASSERT_TRUE(mapped.map(bytes, 64, &first).ok());
  ASSERT_TRUE(mapped.map(bytes + 128, 64, &second).ok());
  EXPECT_EQ(mapped.holding(bytes, 64), first);
  EXPECT_EQ(mapped.holding(bytes + 63, 1), first);
  EXPECT_EQ(mapped.holding(bytes + 136, 8), second);
  EXPECT_EQ(mapped.holding(bytes + 60, 8), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 64, 1), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 100, 64), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, 65), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, SIZE_MAX), nullptr);
  mapped.unmap(bytes);
  EXPECT_EQ(mapped.holding(bytes, 64), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, 64), second);
  mapped.unmap(bytes);  // of which there is none any more
}

TEST(MessagesTest, long_buffers_are_used_again_and_short_ones_are_not) {
  constexpr std::size_t kLongest = 4096;
  Messages messages(kLongest);
  Message first = messages.take(1000);
  EXPECT_EQ(first.length, 1000U);
  const char* const buffer = first.bytes.get();
  messages.give_back(std::move(first));
  Message longest = messages.take(kLongest);
  EXPECT_EQ(longest.bytes.get(), buffer) << "its room is that of the longest message";
  EXPECT_EQ(longest.length, kLongest);
  EXPECT_NE(messages.take(kLongest).bytes.get(), buffer) << "while it is in use";
  messages.give_back(messages.take(16));
  EXPECT_EQ(messages.take(kLongest).room, kLongest) << "what has no room for it is not used for it";
}

TEST(TransportsTest, names_each_transport_once) {
  EXPECT_EQ(transports_of("#  peer: <no debug data>\n"
                          "#     lane[0]:  3:sysv/memory.0 md[2]  -> md[2]/sysv/sysdev[255] am am_bw#0\n"
                          "#     lane[1]:  2:tcp/eth0.0 md[1] -> md[1]/tcp/sysdev[255] rma_bw#1 wireup\n"
                          "#     lane[2]:  2:tcp/eth0.1 md[1] -> md[1]/tcp/sysdev[255]\n"),
            "sysv/memory, tcp/eth0");
}

TEST(TransportsTest, tells_those_that_put_by_themselves) {
  EXPECT_TRUE(has_rdma("tcp/eth0, rc_verbs/mlx5_0:1"));
  EXPECT_TRUE(has_rdma("dc_mlx5/mlx5_0:1"));
  EXPECT_FALSE(has_rdma("ud_verbs/mlx5_0:1, sysv/memory"));
  EXPECT_FALSE(has_rdma("src_x/y"));
  EXPECT_FALSE(has_rdma(""));
}

TEST(TransportsTest, finds_none_in_other_text) {
  EXPECT_EQ(transports_of(""), "");
  EXPECT_EQ(transports_of("lane[0]"), "");
  EXPECT_EQ(transports_of("lane[0]:"), "");
}

}  // namespace
}  // namespace armci::ucx
