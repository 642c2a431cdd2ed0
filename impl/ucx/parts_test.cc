// Tests of parts that need no network: operations and their numbers, keys, message buffers, descriptions of transports.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/message_buffers.h"
#include "impl/ucx/operations.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/used_transports.h"

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
  EXPECT_EQ(operations.pending(), 0U) << "an operation without issued parts does not block others";
  operations.add_part(whole);
  EXPECT_EQ(operations.pending(), 1U);
  operations.end_part(whole, UCS_OK);
  EXPECT_FALSE(has_ended(&operations, number));
  operations.end_first(whole, UCS_OK);
  EXPECT_TRUE(has_ended(&operations, number));
  EXPECT_EQ(operations.pending(), 0U);
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

constexpr std::size_t kLongest = std::size_t{1} << 20;

TEST(MessageBuffersTest, buffers_are_used_again) {
  MessageBuffers buffers(kLongest);
  for (const std::size_t longer : {std::size_t{4096}, kLongest}) {
    Message message = buffers.take(longer - 1000);
    EXPECT_EQ(message.length, longer - 1000);
    const char* const buffer = message.bytes.get();
    EXPECT_NE(buffers.take(longer).bytes.get(), buffer) << "it is in use";
    buffers.give_back(std::move(message));
    message = buffers.take(longer);
    EXPECT_EQ(message.bytes.get(), buffer);
    EXPECT_EQ(message.length, longer);
    std::memset(message.bytes.get(), 1, longer);  // the sanitizer reports a write beyond the buffer
  }
}

TEST(MessageBuffersTest, what_is_too_short_or_too_long_is_not_kept) {
  MessageBuffers buffers(kLongest);
  for (const std::size_t bytes : {std::size_t{0}, MessageBuffers::kShortBytes, kLongest + 1}) {
    Message message = buffers.take(bytes);
    EXPECT_EQ(message.capacity(), bytes);
    buffers.give_back(std::move(message));
    buffers.give_back(Message{});
  }
  EXPECT_EQ(buffers.kept(), 0U);
  EXPECT_EQ(buffers.bytes(), 0U);
}

TEST(MessageBuffersTest, no_more_are_kept_than_promised) {
  constexpr std::size_t kKept = MessageBuffers::kKeptBytes / kLongest;
  MessageBuffers buffers(kLongest);
  std::vector<Message> messages;
  for (std::size_t i = 0; i < kKept + 2; ++i) messages.push_back(buffers.take(kLongest));
  for (Message& message : messages) buffers.give_back(std::move(message));
  EXPECT_EQ(buffers.kept(), kKept);
  EXPECT_EQ(buffers.bytes(), kKept * kLongest);
}

TEST(MessageBuffersTest, one_of_a_great_length_is_kept) {
  MessageBuffers buffers(2 * MessageBuffers::kKeptBytes);
  for (int i = 0; i < 2; ++i) buffers.give_back(buffers.take(2 * MessageBuffers::kKeptBytes));
  EXPECT_EQ(buffers.kept(), 1U);
}

TEST(MessageBuffersTest, what_is_taken_counts_until_it_is_freed) {
  MessageBuffers buffers(kLongest);
  EXPECT_EQ(buffers.bytes(), 0U);
  Message taken = buffers.take(100);
  {
    const Message lost = buffers.take(kLongest - 1);  // as where it cannot be sent
    EXPECT_EQ(buffers.bytes(), 100U + kLongest);
  }
  EXPECT_EQ(buffers.bytes(), 100U);
  Message other{std::move(taken.bytes), 50};
  EXPECT_EQ(buffers.bytes(), 100U);
  buffers.give_back(std::move(other));
  EXPECT_EQ(buffers.bytes(), 0U);
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

TEST(TransportsTest, tells_the_device_where_all_goes_by_one_queue_pair) {
  const std::string lane = "#     lane[0]:  3:rc_verbs/rxe0:1.0 md[2]  -> md[2]/ib/sysdev[255] rma_bw#0 am\n";
  EXPECT_EQ(device_of_one_lane(lane), "rxe0");
  EXPECT_EQ(device_of_one_lane(lane + "#     lane[1]:  3:rc_verbs/rxe0:1.1 md[2]\n"), "") << "another path is another";
  EXPECT_EQ(device_of_one_lane(lane + "#     lane[1]:  1:sysv/memory.0 md[1]\n"), "");
  EXPECT_EQ(device_of_one_lane("#     lane[0]:  3:rc_mlx5/mlx5_0:1.0 md[2]\n"), "");
  EXPECT_EQ(device_of_one_lane(""), "");
}

TEST(TransportsTest, tells_soft_roce_by_its_file) {
  const std::filesystem::path devices = std::filesystem::path(::testing::TempDir()) / "infiniband";
  std::filesystem::create_directories(devices / "mlx5_0");
  std::filesystem::create_directories(devices / "some_name");
  std::ofstream(devices / "some_name" / "parent") << "eth0\n";
  EXPECT_TRUE(is_soft_roce("some_name", devices));
  EXPECT_FALSE(is_soft_roce("mlx5_0", devices));
  EXPECT_FALSE(is_soft_roce("none", devices));
  std::ofstream(devices / "parent") << "no device's\n";
  EXPECT_FALSE(is_soft_roce("", devices));
  std::filesystem::remove_all(devices);
}

TEST(TransportsTest, finds_none_in_other_text) {
  EXPECT_EQ(transports_of(""), "");
  EXPECT_EQ(transports_of("lane[0]"), "");
  EXPECT_EQ(transports_of("lane[0]:"), "");
}

}  // namespace
}  // namespace armci::ucx
