#include "impl/mpi-rma/held_stores.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace armci::rma {
namespace {

struct Left {
  int target;
  char* remote;
  std::string data;

  bool operator==(const Left&) const = default;
};

using Way = HeldStores::Way;

class HeldStoresTest : public ::testing::Test {
 protected:
  HeldStoresTest() {
    held_.reset(3, [] {
      auto message = std::unique_ptr<SignalMessage>(new SignalMessage);
      message->signal = {};
      message->bytes = 0;
      return message;
    });
  }

  void hold(int target, char* remote, const std::string& data) {
    ASSERT_EQ(held_.way(target, 1, data.size()), Way::kHeld);
    ASSERT_TRUE(held_.hold(target, key_, {{remote, data.data(), data.size()}}, send_).ok());
  }
  char* place(std::size_t at) { return memory_ + at; }

  char memory_[64] = {};  // only the addresses matter
  Key key_{nullptr, memory_, 1};
  HeldStores held_;
  std::vector<Left> left_;
  std::size_t messages_ = 0;
  HeldStores::Sender send_ = [this](int target, HeldStores::Stores* stores) {
    messages_ += stores->messages.size();
    std::size_t puts = 0;
    for (const auto& message : stores->messages) {
      message->each_store([&](char* remote, const char* data, std::size_t bytes) {
        left_.push_back({target, remote, std::string(data, bytes)});
        ++puts;
      });
    }
    EXPECT_EQ(stores->keys.size(), puts);
    *stores = {};
    return kSuccess;
  };
  bool signal(int target, const std::vector<HeldStores::Put>& puts = {}, bool follows_stores = false) {
    return held_.send_with_signal(target, key_, puts, follows_stores, send_, send_).ok();
  }
};

TEST_F(HeldStoresTest, stores_leave_with_their_signal_in_one_message) {
  hold(1, place(0), "first");
  hold(2, place(8), "other target");
  hold(1, place(16), "second, which is longer");
  ASSERT_TRUE(signal(1));
  EXPECT_EQ(messages_, 1U);
  EXPECT_EQ(left_, (std::vector<Left>{{1, place(0), "first"}, {1, place(16), "second, which is longer"}}));
  ASSERT_TRUE(held_.send(1, send_).ok());
  EXPECT_EQ(left_.size(), 2U) << "each store leaves once";
}

TEST_F(HeldStoresTest, a_signal_without_stores_leaves) {
  bool called = false;
  ASSERT_TRUE(held_
                  .send_with_signal(0, key_, {}, false, send_,
                                    [&](int, HeldStores::Stores* stores) {
                                      called = stores->messages.empty();
                                      return kSuccess;
                                    })
                  .ok());
  EXPECT_TRUE(called);
}

TEST_F(HeldStoresTest, a_flush_sends_all_of_its_targets) {
  hold(0, place(0), "a");
  hold(2, place(1), "b");
  ASSERT_TRUE(held_.send(2, send_).ok());
  EXPECT_EQ(left_, (std::vector<Left>{{2, place(1), "b"}}));
  hold(1, place(2), "c");
  ASSERT_TRUE(held_.send_all(send_).ok());
  EXPECT_EQ(left_, (std::vector<Left>{{2, place(1), "b"}, {0, place(0), "a"}, {1, place(2), "c"}}));
}

TEST_F(HeldStoresTest, stores_make_room_for_the_next_ones_in_order) {
  const std::string large(3000, 'x');
  constexpr std::size_t kPuts = 20;
  for (std::size_t i = 0; i < kPuts; ++i) hold(1, place(i), large + std::to_string(i));
  EXPECT_GT(left_.size(), 0U);
  EXPECT_LT(messages_, left_.size());
  ASSERT_TRUE(held_.send_all(send_).ok());
  ASSERT_EQ(left_.size(), kPuts);
  for (std::size_t i = 0; i < kPuts; ++i) EXPECT_EQ(left_[i], (Left{1, place(i), large + std::to_string(i)}));
}

TEST_F(HeldStoresTest, a_long_put_is_cut_between_words_of_the_target) {
  std::string data(3 * SignalMessage::kDataBytesMax + 5, ' ');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 >> 3);
  ASSERT_TRUE(HeldStores::can_stream(data.size()));
  for (const std::size_t at : {0, 1, 4, 8, 63}) {
    left_.clear();
    ASSERT_TRUE(held_.stream(0, key_, {{place(at), data.data(), data.size()}}, send_).ok());
    EXPECT_EQ(left_.size(), 3U) << "full messages leave at once";
    ASSERT_TRUE(signal(0));
    EXPECT_GT(left_.size(), 1U);
    std::string joined;
    for (const Left& piece : left_) {
      EXPECT_EQ(piece.remote, place(at) + joined.size());
      if (!joined.empty()) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.remote) % 16, 0U);
      }
      joined += piece.data;
    }
    EXPECT_EQ(joined, data);
  }
}

TEST_F(HeldStoresTest, the_rest_of_a_stream_is_held) {
  hold(1, place(0), "short, and first");
  const std::string row(3000, 'r');
  const std::vector<HeldStores::Put> rows(20, {place(8), row.data(), row.size()});
  ASSERT_TRUE(held_.stream(1, key_, rows, send_).ok());
  const std::size_t streamed = left_.size();
  EXPECT_GT(streamed, 1U);
  EXPECT_LT(streamed, rows.size() + 1);
  EXPECT_EQ(left_[0], (Left{1, place(0), "short, and first"}));
  ASSERT_TRUE(held_.send(1, send_).ok());
  EXPECT_EQ(left_.size(), rows.size() + 1);
  EXPECT_EQ(left_.back(), (Left{1, place(8), row}));
}

TEST_F(HeldStoresTest, puts_stream_where_a_signal_announced_the_last_stores) {
  constexpr std::size_t kLong = 65536;
  const std::string data(kLong, 'd');
  const auto stream = [&] { return held_.stream(1, key_, {{place(0), data.data(), kLong}}, send_).ok(); };
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kPut) << "before any signal";
  ASSERT_TRUE(signal(1));
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kPut) << "a signal without stores";
  ASSERT_TRUE(signal(1, {}, true));
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kStreamed);
  EXPECT_EQ(held_.way(0, 1, kLong), Way::kPut) << "another target";
  EXPECT_EQ(held_.way(1, 1, 8), Way::kHeld);
  EXPECT_EQ(held_.way(1, 1024, 16384), Way::kStreamed);
  EXPECT_EQ(held_.way(1, 1025, kLong), Way::kPut) << "many rows";
  EXPECT_EQ(held_.way(1, 1000, 8000), Way::kPut) << "short rows";
  EXPECT_EQ(held_.way(1, 1, std::size_t{64} << 20), Way::kPut) << "very long";
  ASSERT_TRUE(held_.send(1, send_).ok());
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kStreamed) << "a flush with nothing to flush, as in a barrier";
  ASSERT_TRUE(stream() && signal(1) && held_.send_all(send_).ok());
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kStreamed) << "a signal, then a flush";
  ASSERT_TRUE(stream() && held_.send_all(send_).ok());
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kPut) << "a flush in the place of a signal";
  hold(1, place(0), "short");
  ASSERT_TRUE(signal(1));
  EXPECT_EQ(held_.way(1, 1, kLong), Way::kStreamed) << "short stores, and a signal";
}

TEST_F(HeldStoresTest, a_stream_behind_several_messages_keeps_their_keys) {
  for (const std::size_t bytes : {10000, 10000, 14000}) hold(1, place(bytes % 7), std::string(bytes, 'h'));
  const std::string data(17000, 'd');
  const Key other{nullptr, memory_ + 1, 2};
  std::vector<const void*> bases;
  const HeldStores::Sender by_key = [&](int target, HeldStores::Stores* stores) {
    for (const Key& key : stores->keys) bases.push_back(key.base);
    return send_(target, stores);
  };
  ASSERT_TRUE(held_.stream(1, other, {{place(8), data.data(), data.size()}}, by_key).ok());
  ASSERT_TRUE(held_.send(1, by_key).ok());
  ASSERT_EQ(bases.size(), left_.size());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    EXPECT_EQ(bases[i], left_[i].data[0] == 'h' ? key_.base : other.base) << "store " << i;
  }
}

TEST_F(HeldStoresTest, no_call_takes_more_messages_than_expected) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{40}, SignalMessage::kDataBytesMax / 2 + 1, std::size_t{60000}}) {
    for (const std::size_t puts : {std::size_t{1}, std::size_t{2}, std::size_t{300}}) {
      const std::string row(bytes, 'r');
      const std::vector<HeldStores::Put> rows(puts, {place(63), row.data(), row.size()});
      messages_ = 0;
      hold(0, place(0), "first");
      ASSERT_TRUE(held_.stream(0, key_, rows, send_).ok() && signal(0));
      EXPECT_LE(messages_, HeldStores::messages_max(puts, puts * bytes)) << puts << " puts of " << bytes;
    }
  }
}

TEST(HeldStores, a_job_without_signals_holds_none) {
  HeldStores held;
  const HeldStores::Sender never = [](int, HeldStores::Stores*) { return fail(Code::kLayerBelow, nullptr, "called"); };
  EXPECT_TRUE(held.send(1, never).ok());
  EXPECT_TRUE(held.send_all(never).ok());
  EXPECT_TRUE(held.send_old(never).ok());
}

// As puts they could overtake earlier signals.
TEST_F(HeldStoresTest, the_puts_of_a_signal_never_leave_by_another_way) {
  const std::string data(70000, 's');
  for (std::size_t held = 0; held < 5; ++held) {
    left_.clear();
    for (std::size_t i = 0; i < held; ++i) hold(1, place(i), std::string(7000, 'h'));
    const std::size_t before = left_.size();
    ASSERT_TRUE(signal(1, {{place(40), data.data(), data.size()}}));
    std::string with_signal;
    for (std::size_t i = before; i < left_.size(); ++i) {
      if (left_[i].data[0] == 's') with_signal += left_[i].data;
    }
    EXPECT_EQ(with_signal, data);
    EXPECT_EQ(before, 0U) << "so few are held";
  }
}

TEST_F(HeldStoresTest, many_rows_of_a_call_travel_together) {
  const std::string data(100, 'r');
  const std::vector<HeldStores::Put> rows(70, {place(0), data.data(), data.size()});
  ASSERT_EQ(held_.way(0, rows.size(), rows.size() * data.size()), Way::kHeld);
  ASSERT_TRUE(held_.hold(0, key_, rows, send_).ok());
  ASSERT_TRUE(signal(0));
  EXPECT_LT(messages_, 3U);
  EXPECT_EQ(left_, std::vector<Left>(rows.size(), {0, place(0), data}));
}

TEST_F(HeldStoresTest, the_second_pass_sends_also_what_came_in_between) {
  hold(1, place(0), "a");
  ASSERT_TRUE(held_.send_old(send_).ok());
  hold(1, place(1), "b");
  EXPECT_TRUE(left_.empty());
  ASSERT_TRUE(held_.send_old(send_).ok());
  EXPECT_EQ(left_.size(), 2U);
  hold(1, place(2), "c");
  ASSERT_TRUE(held_.send_old(send_).ok());
  EXPECT_EQ(left_.size(), 2U) << "the first pass after it";
}

TEST_F(HeldStoresTest, a_thread_that_finds_none_knows_that_they_have_left) {
  constexpr int kRounds = 2000;
  std::atomic<int> complete{0};
  const HeldStores::Sender slow = [&](int, HeldStores::Stores* stores) {
    std::this_thread::yield();
    complete += static_cast<int>(stores->keys.size());
    *stores = {};
    return kSuccess;
  };
  std::atomic<bool> over{false};
  std::thread progress([&] {
    while (!over) (void)held_.send_old(slow);
  });
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(held_.hold(1, key_, {{place(0), "z", 1}}, slow).ok());
    if (round % 3 == 0) std::this_thread::yield();
    ASSERT_TRUE(held_.send(1, slow).ok());
    ASSERT_EQ(complete, round);
  }
  over = true;
  progress.join();
}

TEST_F(HeldStoresTest, what_was_not_sent_stays_held) {
  hold(1, place(0), "data");
  const HeldStores::Sender failing = [](int, HeldStores::Stores*) {
    return fail(Code::kLayerBelow, nullptr, "the test fails it");
  };
  EXPECT_FALSE(held_.send_all(failing).ok());
  EXPECT_FALSE(held_.send_with_signal(1, key_, {}, false, failing, failing).ok());
  EXPECT_TRUE(held_.send_all(send_).ok());
  EXPECT_EQ(left_, (std::vector<Left>{{1, place(0), "data"}}));
}

}  // namespace
}  // namespace armci::rma
