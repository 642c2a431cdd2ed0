// Tests of parts that need no wire: operations and their numbers, message buffers, numbers of forwarded requests.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "impl/engine/message_buffers.h"
#include "impl/engine/operations.h"
#include "impl/engine/request.h"

namespace armci::engine {
namespace {

using Operation = Operations::Operation;

bool has_ended(Operations* operations, std::uint64_t number) {
  Operation* failed = nullptr;
  return operations->ended(number, &failed);
}

TEST(ForwardNumber, is_the_nearest_one_that_is_equal_modulo) {
  constexpr std::uint64_t kModulo = kForwardNumbers;
  for (const std::uint64_t near : {std::uint64_t{1}, kModulo - 1, kModulo, kModulo + 3, 5 * kModulo + 7}) {
    for (const std::int64_t away : {-1, 0, 1, 8}) {
      const std::uint64_t number = near + static_cast<std::uint64_t>(away);
      EXPECT_EQ(forward_number_near(near, static_cast<std::uint32_t>(number % kModulo)), number) << near;
    }
  }
}

TEST(OperationsTest, ends_with_its_last_part) {
  Operations operations;
  Operation* const whole = operations.begin("put", 1);
  const std::uint64_t number = Operations::number(whole);
  EXPECT_EQ(operations.pending(), 0U) << "an operation without issued parts does not block others";
  operations.add_part(whole);
  EXPECT_EQ(operations.pending(), 1U);
  operations.end_part(whole, 0);
  EXPECT_FALSE(has_ended(&operations, number));
  operations.end_first(whole, 0);
  EXPECT_TRUE(has_ended(&operations, number));
  EXPECT_EQ(operations.pending(), 0U);
}

TEST(OperationsTest, number_stays_ended_when_its_place_is_taken_again) {
  Operations operations;
  Operation* const first = operations.begin("put", 1);
  const std::uint64_t number = Operations::number(first);
  operations.end_first(first, 0);
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
  operations.end_part(whole, 7);
  operations.end_first(whole, 0);
  EXPECT_NE(operations.begin("put", 1), whole);
  Operation* failed = nullptr;
  ASSERT_TRUE(operations.ended(number, &failed));
  ASSERT_EQ(failed, whole);
  EXPECT_EQ(failed->error, 7);
  EXPECT_EQ(failed->peer, 3);
  operations.release(failed);
  EXPECT_TRUE(operations.ended(number, &failed));
  EXPECT_EQ(failed, nullptr);
}

TEST(OperationsTest, no_operation_has_the_number_of_none) {
  Operations operations;
  Operation* const one = operations.begin("put", 1);
  one->generation = UINT32_MAX;
  operations.end_first(one, 0);
  Operation* const next = operations.begin("put", 1);
  ASSERT_EQ(next, one);
  EXPECT_FALSE(has_ended(&operations, Operations::number(next)));
}

TEST(OperationsTest, no_operation_has_ended) {
  Operations operations;
  EXPECT_TRUE(has_ended(&operations, 0));
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

}  // namespace
}  // namespace armci::engine
