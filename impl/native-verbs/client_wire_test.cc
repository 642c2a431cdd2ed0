// Needs a verbs device. The client's side detects a dead server during any pending operation.
#include "impl/native-verbs/client_wire.h"

#include <cstring>
#include <memory>
#include <string>

#include "impl/engine/compose.h"
#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/testing/loop.h"
#include "impl/native-verbs/testing/test_server.h"
#include "impl/node/wait.h"

namespace armci::verbs {
namespace {

constexpr CacheBounds kCache{1, 1};
constexpr std::int64_t kLongestUs = 60'000'000;

class ClientWireTest : public ::testing::Test, private engine::ClientEvents {
 protected:
  void SetUp() override {
    open_device(&device_);
    server_ = std::make_unique<TestServer>(device_, 1);
    server_->start();
    ASSERT_TRUE(caller_.open(device_, 0).ok());
    caller_.learn({server_->address()}, kSecret);
    wire_ = std::make_unique<ClientWire>(device_, &registrations_, &caller_, TestServer::routes(1), 0,
                                         std::vector<int>{0}, ClientBounds{4, kMessageBytes, 16, kRequests, 4096});
    wire_->report_to(this);
    ASSERT_TRUE(wire_->open().ok()) << last_cause().text;
    ASSERT_TRUE(wire_->connect(0).ok()) << last_cause().text;
    region_.reset(ibv_reg_mr(device_.domain(), word_, sizeof word_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    ASSERT_NE(region_, nullptr);
    key_.remote = region_->rkey;
  }

  // Polls until the condition holds, or a failure.
  template <class Condition>
  Status poll_until(Condition condition) {
    const std::int64_t begun_us = node::now_us();
    while (!condition() && node::now_us() - begun_us < kLongestUs) {
      bool any = false;
      ARMCI_RETURN_IF_ERROR(wire_->poll(&any));
    }
    EXPECT_TRUE(condition()) << "nothing for a minute";
    return kSuccess;
  }

  // A put, and its flush.
  Status write() {
    std::size_t bytes = sizeof word_;
    engine::Rdma& rdma = *wire_->rdma();
    ARMCI_RETURN_IF_ERROR(rdma.transfer(engine::Rdma::Direction::kWrite, {0, &key_}, word_, word_, &bytes,
                                        operations_.begin_part("a put", 0)));
    ARMCI_RETURN_IF_ERROR(rdma.flush(0, operations_.begin_part("a flush", 0)));
    return poll_until([this] { return operations_.pending() == 0; });
  }

  // Of the word of the test, behind the write before it.
  Status signal(std::uint64_t value) {
    return wire_->rdma()->set_word({0, &key_}, reinterpret_cast<std::uint64_t*>(word_), value);
  }
  std::uint64_t word() const {
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(word_), __ATOMIC_ACQUIRE);
  }

  Status send_request() {
    engine::Message message = wire_->take_message(sizeof(engine::RequestHeader));
    engine::compose(engine::RequestHeader(), {}, message.bytes.get());
    return wire_->send(0, 0, std::move(message), nullptr);
  }

  Status await_reply() {
    return poll_until([this] { return replies_ > 0; });
  }

  void expect_death(Status status) {
    EXPECT_FALSE(status.ok());
    EXPECT_NE(std::string(last_cause().text).find("node 0 (process 0)"), std::string::npos);
    EXPECT_NE(std::string(last_cause().text).find("has died"), std::string::npos);
  }

  node::WakeUp wake_up_{};
  Device device_;
  std::unique_ptr<TestServer> server_;
  Registrations registrations_{device_, kCache};
  Caller caller_;
  std::unique_ptr<ClientWire> wire_;
  int replies_ = 0;

 private:
  void replied(const engine::ReplyHeader&, std::span<const char>) override { ++replies_; }
  void data_received(std::uint32_t) override {}
  void ended(engine::Part, int) override {}
  void lost(int, int) override {}
  bool awaits(int) const override { return true; }

  engine::Operations operations_;
  alignas(8) char word_[8] = {};
  Owned<ibv_mr> region_;
  RemoteKey key_;
};

// Batches of aggregate handles keep their memory until the program waits.
TEST_F(ClientWireTest, messages_that_are_built_leave_buffers_to_send_with) {
  std::vector<engine::Message> built;
  for (int i = 0; i < 8; ++i) {
    built.push_back(wire_->take_message(kMessageBytes));
    std::memset(built.back().bytes.get(), 0, kMessageBytes);
    ASSERT_TRUE(wire_->can_send(0));
  }
  for (engine::Message& message : built) {
    engine::RequestHeader header;
    header.sequence = static_cast<std::uint64_t>(&message - built.data()) + 1;
    engine::compose(header, {}, message.bytes.get());
    message.length = sizeof header;
    ASSERT_TRUE(poll_until([this] { return wire_->can_send(0); }).ok()) << last_cause().text;
    ASSERT_TRUE(wire_->send(0, 0, std::move(message), nullptr).ok()) << last_cause().text;
  }
  ASSERT_TRUE(poll_until([&] { return replies_ == static_cast<int>(built.size()); }).ok()) << last_cause().text;
}

// More of them than receive buffers: the server gives each back.
TEST_F(ClientWireTest, a_signal_sets_its_word_and_has_the_server_wake_the_threads) {
  constexpr std::uint64_t kSignals = 50;
  wake_up_.sleeping = 1;
  server_->set_wake_up(&wake_up_);
  for (std::uint64_t value = 1; value <= kSignals; ++value) {
    ASSERT_TRUE(poll_until([&] { return wire_->rdma()->can_transfer(0); }).ok()) << last_cause().text;
    ASSERT_TRUE(signal(value).ok()) << last_cause().text;
  }
  ASSERT_TRUE(poll_until([&] { return word() == kSignals && wake_up_.count == kSignals; }).ok()) << last_cause().text;
  ASSERT_TRUE(write().ok());  // and its flush
}

TEST_F(ClientWireTest, ASignalToADeadServerFailsTheNextFlush) {
  server_.reset();
  ASSERT_TRUE(signal(1).ok());
  expect_death(write());
}

TEST_F(ClientWireTest, AWriteToADeadServerFails) {
  server_.reset();
  expect_death(write());
}

TEST_F(ClientWireTest, ARequestToADeadServerFails) {
  server_.reset();
  ASSERT_TRUE(send_request().ok());
  expect_death(await_reply());
}

TEST_F(ClientWireTest, ARequestThatHadArrivedBeforeItDiedFails) {
  server_->stop();
  ASSERT_TRUE(send_request().ok());
  // A write behind it has been acknowledged, and so has the request.
  ASSERT_TRUE(write().ok());
  server_.reset();
  expect_death(await_reply());
}

}  // namespace
}  // namespace armci::verbs
