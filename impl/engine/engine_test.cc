// The engine over a network that delays, reorders and makes little progress (testing/network.h), against a serial
// model: each process stores to, and reads from, memory of its own at every server.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "impl/engine/testing/area.h"
#include "impl/engine/testing/network.h"

namespace armci::engine {
namespace {

using testing::area;
using testing::kAreaBytes;
using testing::Network;
using testing::NetworkOptions;

// The operations of a process on one server, and the data that its area has to hold then.
class Script {
 public:
  Script(Network* network, int process, int server, unsigned seed)
      : client_(network->client(process)), target_{server, nullptr}, area_(area(process, server)), random_(seed) {
    std::memset(area_, 0, kAreaBytes);
    model_.resize(kAreaBytes);
  }

  void one_call() {
    switch (random_() % 12) {
      case 0:
      case 1:
        return put();
      case 2:
        return put_later();
      case 3:
        return get();
      case 4:
        return put_rows();
      case 5:
        return get_rows();
      case 6:
        return accumulate();
      case 7:
        return atomics();
      case 8:
        return signal();
      case 9:
        return signal_alone();
      case 10:
        return signals_in_a_row();
      default:
        return aggregate();
    }
  }

  void expect_all() {
    wait_for_all();
    ASSERT_TRUE(client_.flush(target_.process).ok());
    for (std::size_t i = 0; i < kAreaBytes; ++i) ASSERT_EQ(area_[i], model_[i]) << "byte " << i;
  }

 private:
  // The last words are for atomics and signals.
  static constexpr std::size_t kDataBytes = kAreaBytes - 64;
  struct Later {
    std::uint64_t operation = 0;
    std::vector<char> local;
    std::vector<char> wanted;  // of a get
  };

  // Half of the lengths and of the segments are of whole words, which Rdma reaches.
  std::size_t length() {
    const std::size_t longest = std::size_t{1} << (random_() % 13);
    return whole_words(random_() % longest + 1);
  }
  std::size_t whole_words(std::size_t bytes) { return random_() % 2 == 0 ? bytes : (bytes + 7) / 8 * 8; }
  std::vector<char> data(std::size_t bytes) {
    std::vector<char> made(bytes);
    for (char& byte : made) byte = static_cast<char>(random_());
    return made;
  }
  std::size_t place(std::size_t bytes) {
    const std::size_t at = random_() % (kDataBytes - bytes + 1);
    return random_() % 2 == 0 ? at : at / 8 * 8;
  }

  void put() {
    const std::vector<char> from = data(length());
    const std::size_t at = place(from.size());
    wait_for_all();
    ASSERT_TRUE(client_.put(target_, area_ + at, from.data(), from.size(), {}).ok());
    std::copy(from.begin(), from.end(), model_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Operations that are pending together do not overlap.
  void put_later() {
    Later later;
    later.local = data(random_() % 600 + 1);
    const std::size_t at = take_place(later.local.size());
    ASSERT_TRUE(
        client_.put(target_, area_ + at, later.local.data(), later.local.size(), {&later.operation, false}).ok());
    std::copy(later.local.begin(), later.local.end(), model_.begin() + static_cast<std::ptrdiff_t>(at));
    later_.push_back(std::move(later));
  }

  std::size_t take_place(std::size_t bytes) {
    if (used_ + bytes > kDataBytes) wait_for_all();
    const std::size_t at = used_;
    used_ += bytes;
    return at;
  }

  void get() {
    wait_for_all();
    std::vector<char> to(length());
    const std::size_t at = place(to.size());
    ASSERT_TRUE(client_.get(target_, area_ + at, to.data(), to.size(), {}).ok());
    ASSERT_TRUE(std::equal(to.begin(), to.end(), model_.begin() + static_cast<std::ptrdiff_t>(at)));
  }

  // Rows of a shape of two levels, or a list, with gaps on either side or none.
  void put_rows() {
    wait_for_all();
    const std::size_t row = whole_words(random_() % 200 + 1);
    const std::size_t count = random_() % 12 + 1;
    const std::size_t gap = random_() % 2 == 0 ? 0 : whole_words(random_() % 64);
    const std::size_t local_gap = random_() % 2 == 0 ? 0 : random_() % 64;
    const std::vector<char> from = data(count * (row + local_gap));
    const std::size_t at = place(count * (row + gap));
    with_rows(Here::kSource, from.data(), area_ + at, row, count, local_gap, gap,
              [&](const Rows& rows) { ASSERT_TRUE(client_.put_rows(target_, rows, {}).ok()); });
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(model_.data() + at + i * (row + gap), from.data() + i * (row + local_gap), row);
    }
  }

  void get_rows() {
    wait_for_all();
    const std::size_t row = whole_words(random_() % 200 + 1);
    const std::size_t count = random_() % 12 + 1;
    const std::size_t gap = random_() % 2 == 0 ? 0 : whole_words(random_() % 64);
    std::vector<char> to(count * row);
    const std::size_t at = place(count * (row + gap));
    with_rows(Here::kDestination, to.data(), area_ + at, row, count, 0, gap,
              [&](const Rows& rows) { ASSERT_TRUE(client_.get_rows(target_, rows, {}).ok()); });
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(to.data() + i * row, model_.data() + at + i * (row + gap), row), 0);
    }
  }

  template <class Use>
  void with_rows(Here here, const char* local, char* remote, std::size_t row, std::size_t count, std::size_t local_gap,
                 std::size_t gap, Use use) {
    const auto local_stride = static_cast<std::ptrdiff_t>(row + local_gap);
    const auto remote_stride = static_cast<std::ptrdiff_t>(row + gap);
    if (random_() % 2 == 0) {
      runtime::Strided shape{};
      shape.levels = 1;
      shape.count[0] = row;
      shape.count[1] = count;
      shape.src_stride[0] = here == Here::kSource ? local_stride : remote_stride;
      shape.dst_stride[0] = here == Here::kSource ? remote_stride : local_stride;
      return use(Rows(shape, here, local, remote));
    }
    std::vector<void*> locals;
    std::vector<void*> remotes;
    for (std::size_t i = 0; i < count; ++i) {
      locals.push_back(const_cast<char*>(local) + i * (row + local_gap));
      remotes.push_back(remote + i * (row + gap));
    }
    auto& sources = here == Here::kSource ? locals : remotes;
    auto& destinations = here == Here::kSource ? remotes : locals;
    use(Rows(runtime::Segments{sources.data(), destinations.data(), row, count}, here));
  }

  void accumulate() {
    wait_for_all();
    const std::size_t count = random_() % 300 + 1;
    std::vector<std::int32_t> from(count);
    for (std::int32_t& value : from) value = static_cast<std::int32_t>(random_() % 1000);
    const std::size_t at = place(count * 4) / 4 * 4;
    const std::int32_t scale = 3;
    const RequestHeader header = accumulate_header({node::AccType::kInt, &scale});
    ASSERT_TRUE(client_.add(target_.process, header, area_ + at, from.data(), count * 4, {}).ok());
    for (std::size_t i = 0; i < count; ++i) {
      std::int32_t value = 0;
      std::memcpy(&value, model_.data() + at + i * 4, 4);
      value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + 3U * static_cast<std::uint32_t>(from[i]));
      std::memcpy(model_.data() + at + i * 4, &value, 4);
    }
  }

  // Returns the value before, and changes the word of the model.
  template <class Word>
  std::int64_t model_atomic(const runtime::Rmw& rmw) {
    Word before;
    std::memcpy(&before, model_.data() + kDataBytes, sizeof before);
    const Word after = node::rmw_result(rmw.op, before, static_cast<Word>(rmw.operand), static_cast<Word>(rmw.compare));
    std::memcpy(model_.data() + kDataBytes, &after, sizeof after);
    return before;
  }

  // Several on one word, each blocking, non-blocking or of an aggregate handle.
  void atomics() {
    struct Pending {
      std::uint64_t operation = 0;
      std::int64_t before = 0;
      std::int64_t expected = 0;
    };
    std::array<Pending, 5> pending;
    const std::uint64_t style = random_() % 3;
    for (Pending& one : pending) {
      const auto op = static_cast<node::RmwOp>(random_() % (static_cast<unsigned>(node::kLastRmwOp) + 1));
      const runtime::Rmw rmw = {op, random_() % 2 == 0 ? 4U : 8U,
                                random_() % 3 == 0 ? ~std::uint64_t{0} : random_() % 8, random_() % 8};
      one.expected = rmw.bytes == 4 ? model_atomic<std::int32_t>(rmw) : model_atomic<std::int64_t>(rmw);
      const How how = style == 0 ? How{} : How{&one.operation, style == 1};
      const RequestHeader header = atomic_header(area_ + kDataBytes, rmw);
      ASSERT_TRUE(client_.atomic(target_.process, header, &one.before, how).ok());
      if (rmw.bytes == 4) one.expected &= 0xffffffff;
    }
    for (const Pending& one : pending) {
      ASSERT_NO_FATAL_FAILURE(wait_for(one.operation));
      ASSERT_EQ(one.before, one.expected);
    }
  }

  // The word changes after the data and after all earlier stores, whose completion nothing else awaits.
  void signal() {
    auto* const word = reinterpret_cast<std::uint64_t*>(area_ + kDataBytes + 8);
    const std::vector<char> from = data(random_() % 4 == 0 ? 3000 : random_() % 100 + 1);
    wait_for_all();
    const std::size_t at = place(from.size());
    std::uint64_t none = 0;
    const std::size_t earlier = at >= 8 ? 0 : kDataBytes - 8;
    const std::vector<char> small = data(8);
    ASSERT_TRUE(client_.put(target_, area_ + earlier, small.data(), 8, {&none, random_() % 4 == 0}).ok());
    std::memcpy(model_.data() + earlier, small.data(), 8);
    ++signaled_;
    ASSERT_TRUE(
        client_
            .put_signal(target_, area_ + at, from.data(), from.size(), {word, signaled_, node::SignalOp::kSet, nullptr})
            .ok());
    std::copy(from.begin(), from.end(), model_.begin() + static_cast<std::ptrdiff_t>(at));
    ASSERT_NO_FATAL_FAILURE(await_signal(word));
    ASSERT_EQ(std::memcmp(area_ + at, from.data(), from.size()), 0) << "the data precede their signal";
    ASSERT_EQ(std::memcmp(area_ + earlier, model_.data() + earlier, 8), 0) << "an earlier store precedes the signal";
    wait_for(none);
  }

  // As a notification: behind a put, or behind an accumulate that only a server executes.
  void signal_alone() {
    auto* const word = reinterpret_cast<std::uint64_t*>(area_ + kDataBytes + 8);
    std::uint64_t later = 0;
    const std::vector<char> from = data(8);
    wait_for_all();
    if (random_() % 2 == 0) {
      accumulate();
    } else {
      ASSERT_TRUE(client_.put(target_, area_, from.data(), from.size(), {&later, false}).ok());
      std::copy(from.begin(), from.end(), model_.begin());
    }
    ++signaled_;
    ASSERT_TRUE(send_signal({word, signaled_, node::SignalOp::kSet, nullptr, /*sole_writer=*/true}).ok());
    ASSERT_NO_FATAL_FAILURE(await_signal(word));
    ASSERT_TRUE(std::equal(model_.begin(), model_.begin() + kDataBytes, area_)) << "earlier stores precede the signal";
    wait_for(later);
  }

  // Nothing awaits one before the next is sent. Behind an accumulate a signal is a request.
  void signals_in_a_row() {
    auto* const word = reinterpret_cast<std::uint64_t*>(area_ + kDataBytes + 8);
    auto* const added = reinterpret_cast<std::uint64_t*>(area_ + kDataBytes + 16);
    std::uint64_t seen = 0;
    for (int i = 0; i < 4; ++i) {
      ASSERT_GE(*static_cast<volatile std::uint64_t*>(word), seen) << "no signal overtakes an earlier one";
      seen = *static_cast<volatile std::uint64_t*>(word);
      if (random_() % 3 == 0) accumulate();
      ++signaled_;
      ASSERT_TRUE(send_signal({word, signaled_, node::SignalOp::kSet, nullptr, /*sole_writer=*/true}).ok());
      if (random_() % 3 != 0) continue;
      ++signals_added_;
      ASSERT_TRUE(send_signal({added, 1, node::SignalOp::kAdd, nullptr}).ok());
      ASSERT_TRUE(send_signal({added, signals_added_ + 1, node::SignalOp::kClearIfEqual, nullptr}).ok());
    }
    std::memcpy(model_.data() + kDataBytes + 8, &signaled_, sizeof signaled_);
    std::memcpy(model_.data() + kDataBytes + 16, &signals_added_, sizeof signals_added_);
    if (random_() % 2 == 0) return;  // else a later signal, or the flush at the end, has to come behind them
    ASSERT_TRUE(client_.flush(target_.process).ok());
    ASSERT_EQ(*word, signaled_) << "a flush waits for signals";
    ASSERT_EQ(*added, signals_added_);
  }

  Status send_signal(const node::Signal& signal) { return client_.put_signal(target_, nullptr, nullptr, 0, signal); }

  void await_signal(const std::uint64_t* word) {
    std::memcpy(model_.data() + kDataBytes + 8, &signaled_, sizeof signaled_);
    for (int polls = 0; *static_cast<const volatile std::uint64_t*>(word) != signaled_; ++polls) {
      // Most of these calls poll no wire: a few unexecuted requests are worth a poll now and then only.
      ASSERT_LT(polls, 10000000) << "the signal needs no later call but polls";
      client_.poll_once();
      engine::Client::Progress found = engine::Client::Progress::kIdle;
      ASSERT_TRUE(client_.progress(&found).ok());
    }
  }

  // Operations of an aggregate handle: any kind and form, in one batch or several.
  void aggregate() {
    wait_for_all();
    const std::vector<char> from = data(300);
    std::vector<char> to(200);
    std::vector<char> to_next(150);
    std::uint64_t put = 0;
    std::uint64_t get = 0;
    std::uint64_t get_next = 0;
    ASSERT_TRUE(client_.put(target_, area_, from.data(), from.size(), {&put, true}).ok());
    ASSERT_TRUE(client_.get(target_, area_ + 1000, to.data(), to.size(), {&get, true}).ok());
    ASSERT_TRUE(client_.get(target_, area_ + 2000, to_next.data(), to_next.size(), {&get_next, true}).ok());
    std::copy(from.begin(), from.end(), model_.begin());
    if (random_() % 2 == 0) wait_for(put);  // else a later call orders it, or the flush at the end
    for (const std::uint64_t operation : {get, get_next}) wait_for(operation);
    ASSERT_EQ(std::memcmp(to_next.data(), model_.data() + 2000, to_next.size()), 0);
    ASSERT_EQ(std::memcmp(to.data(), model_.data() + 1000, to.size()), 0);
  }

  void wait_for(std::uint64_t operation) {
    bool done = operation == 0;
    for (int tests = 0; !done; ++tests) {
      ASSERT_LT(tests, 100000) << "an operation ends";
      ASSERT_TRUE(client_.test(operation, &done).ok());
    }
  }
  void wait_for_all() {
    for (const Later& later : later_) wait_for(later.operation);
    later_.clear();
    used_ = 0;
  }

  Client& client_;
  const Target target_;
  char* const area_;
  std::mt19937_64 random_;
  std::vector<char> model_;
  std::vector<Later> later_;
  std::size_t used_ = 0;
  std::uint64_t signaled_ = 0;
  std::uint64_t signals_added_ = 0;
};

struct Case {
  const char* name;
  NetworkOptions options;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

const Case kCases[] = {
    {"messages_in_order", {}},
    {"messages_in_any_order", {.keeps_order = false, .keeps_place = false}},
    {"one_credit", {.requests = 1, .forwards = 1}},
    {"long_data", {.long_data = true}},
    {"long_data_and_copies", {.long_data = true, .copied_bytes = 2000}},
    {"long_data_and_few_chunks_in_a_cluster", {.cluster = 3, .long_data = true, .requests = 6, .forwards = 1}},
    {"cluster_in_any_order", {.servers = 4, .cluster = 4, .keeps_order = false, .keeps_place = false}},
    {"zero_copy", {.zero_copy_bytes = 1, .requests = 6}},
    {"zero_copy_in_a_cluster",
     {.servers = 4,
      .cluster = 3,
      .keeps_order = false,
      .zero_copy_bytes = 300,
      .requests = 6,
      .counts_on_demand = true}},
    {"rdma", {.keeps_order = false, .keeps_place = false, .rdma = true}},
    {"rdma_that_requests_follow", {.rdma = true, .requests_follow = true}},
    {"one_reply_to_each_request", {.rdma = true, .requests_follow = true, .replies_to_each = true}},
    {"one_reply_to_each_request_in_a_cluster", {.servers = 4, .cluster = 3, .rdma = true, .replies_to_each = true}},
    {"rdma_that_sets_words", {.keeps_order = false, .keeps_place = false, .rdma = true, .sets_words = true}},
    {"rdma_that_sets_words_that_requests_follow",
     {.rdma = true, .requests_follow = true, .sets_words = true, .replies_to_each = true}},
    {"rdma_that_sets_words_in_a_cluster", {.servers = 4, .cluster = 3, .rdma = true, .sets_words = true}},
    {"rdma_in_a_cluster", {.servers = 4, .cluster = 2, .rdma = true}},
    {"counts_on_demand", {.keeps_order = false, .long_data = true, .requests = 4, .counts_on_demand = true}},
    {"counts_on_demand_and_one_credit", {.requests = 1, .forwards = 1, .counts_on_demand = true}},
    {"counts_on_demand_in_a_cluster", {.servers = 4, .cluster = 3, .rdma = true, .counts_on_demand = true}},
    {"counts_on_demand_of_a_network_that_holds_the_ends_of_messages",
     {.requests = 8, .counts_on_demand = true, .sends_at_once = true}},
    {"counts_on_demand_and_no_progress_thread", {.requests = 4, .counts_on_demand = true, .background = false}},
    {"no_progress_thread", {.long_data = true, .background = false}},
    {"rdma_and_no_progress_thread", {.keeps_order = false, .keeps_place = false, .rdma = true, .background = false}},
};

class EngineTest : public ::testing::TestWithParam<Case> {};

TEST_P(EngineTest, does_what_a_serial_model_does) {
  constexpr unsigned kSeeds = 8;
  constexpr int kCalls = 150;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Network network(GetParam().options, seed);
    std::vector<Script> scripts;
    for (int process = 0; process < 2; ++process) {
      for (int server = 0; server < network.options().servers; ++server) {
        if (server != process) scripts.emplace_back(&network, process, server, seed * 100 + scripts.size());
      }
    }
    std::mt19937_64 random(seed);
    for (int call = 0; call < kCalls; ++call) {
      ASSERT_NO_FATAL_FAILURE(scripts[random() % scripts.size()].one_call());
    }
    for (Script& script : scripts) ASSERT_NO_FATAL_FAILURE(script.expect_all());
    ASSERT_TRUE(network.client(0).flush_all().ok());
    ASSERT_TRUE(network.close().ok());
    ASSERT_EQ(network.fault(), "");
    ASSERT_EQ(network.wire(0).words_set() > 0, network.options().sets_words);
    ASSERT_EQ(network.wire(0).sent_with_data() > 0, network.options().zero_copy_bytes > 0);
    ASSERT_EQ(network.forwarded() > 0, network.options().cluster > 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EngineTest, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace armci::engine
