// Needs a verbs device. Calls by datagram: the server executes each call once, also if it arrives several times or
// other processes call too.
#include <poll.h>

#include <set>
#include <thread>

#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/testing/loop.h"
#include "impl/native-verbs/testing/test_server.h"

namespace armci::verbs {
namespace {

constexpr int kProcesses = 48;

class CallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open_device(&device_);
    server_ = std::make_unique<TestServer>(device_, kProcesses);
    server_->start();
    ASSERT_TRUE(device_.make_queue(256, nullptr, &done_).ok());
    ASSERT_TRUE(datagrams_.create(device_, done_.get(), 32, kCallBytesMax, 0).ok());
  }

  Call connect_call(const Link& link, std::uint32_t process, std::uint64_t sequence) {
    Call call;
    call.secret = kSecret;
    call.sequence = sequence;
    call.process = process;
    call.link = link.address(device_);
    call.reply = datagrams_.address();
    return call;
  }

  void create(Link* link) { ASSERT_TRUE(link->create(device_, {done_.get(), nullptr, 16, 16}).ok()); }

  void send(const Call& call) {
    ASSERT_TRUE(datagrams_.send(server_->address(), {reinterpret_cast<const char*>(&call), sizeof call}).ok());
  }

  // The replies that come until none has for `quiet_ms`.
  std::vector<Reply> replies(int quiet_ms = 300) {
    std::vector<Reply> all;
    for (int waited = 0; waited < quiet_ms; ++waited) {
      ibv_wc work{};
      while (ibv_poll_cq(done_.get(), 1, &work) > 0) {
        std::span<const char> message;
        datagrams_.ended(work, &message);
        if (message.size() != sizeof(Reply)) continue;
        std::memcpy(&all.emplace_back(), message.data(), sizeof(Reply));
        EXPECT_TRUE(datagrams_.release(message).ok());
        waited = 0;
      }
      poll(nullptr, 0, 1);
    }
    return all;
  }

  Device device_;
  std::unique_ptr<TestServer> server_;
  Owned<ibv_cq> done_;
  Datagrams datagrams_;
};

TEST_F(CallsTest, ACallThatComesAgainIsAnsweredAgainAndNotExecutedAgain) {
  Link link;
  create(&link);
  const Call call = connect_call(link, 3, 7);
  for (int i = 0; i < 5; ++i) send(call);
  const std::vector<Reply> all = replies();
  ASSERT_EQ(all.size(), 5U);
  for (const Reply& one : all) {
    EXPECT_EQ(one.error, 0);
    EXPECT_EQ(one.sequence, 7U);
    EXPECT_EQ(one.link.pair, all[0].link.pair);
  }
}

TEST_F(CallsTest, ACopyThatIsLateIsNotAnswered) {
  Link link;
  create(&link);
  send(connect_call(link, 3, 7));
  ASSERT_EQ(replies().size(), 1U);
  send(connect_call(link, 3, 6));
  EXPECT_TRUE(replies().empty());
}

TEST_F(CallsTest, AProcessConnectsOnce) {
  Link link;
  create(&link);
  send(connect_call(link, 3, 1));
  send(connect_call(link, 3, 2));
  const std::vector<Reply> all = replies();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].error, 0);
  EXPECT_NE(all[1].error, 0);
}

TEST_F(CallsTest, WhatIsNotACallOfThisJobIsNotAnswered) {
  Link link;
  create(&link);
  Call call = connect_call(link, 0, 1);
  call.secret = kSecret + 1;
  send(call);
  call = connect_call(link, kProcesses, 1);
  send(call);
  call = connect_call(link, 0, 1);
  call.magic = 0;
  send(call);
  ASSERT_TRUE(datagrams_.send(server_->address(), {reinterpret_cast<const char*>(&call), sizeof call / 2}).ok());
  EXPECT_TRUE(replies().empty());
  send(connect_call(link, 0, 1));
  EXPECT_EQ(replies().size(), 1U);  // the server goes on
}

TEST_F(CallsTest, AllProcessesConnectAtTheSameMoment) {
  struct Process {
    Caller caller;
    Owned<ibv_cq> done;
    Link link;
    Reply reply;
    bool ok = false;
  };
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < kProcesses; ++i) {
    Process& one = *processes.emplace_back(std::make_unique<Process>());
    ASSERT_TRUE(one.caller.open(device_, i).ok());
    one.caller.learn({server_->address()}, kSecret);
    ASSERT_TRUE(device_.make_queue(32, nullptr, &one.done).ok());
    ASSERT_TRUE(one.link.create(device_, {one.done.get(), nullptr, 16, 16}).ok());
  }
  std::vector<std::thread> threads;
  for (const auto& process : processes) {
    threads.emplace_back([this, one = process.get()] {
      Call call;
      call.link = one->link.address(device_);
      one->ok = one->caller.call(0, call, &one->reply).ok() && one->reply.error == 0 &&
                one->link.connect(device_, one->reply.link).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint32_t> pairs;
  for (const auto& process : processes) {
    EXPECT_TRUE(process->ok);
    pairs.insert(process->reply.link.pair);
  }
  EXPECT_EQ(pairs.size(), processes.size());
}

}  // namespace
}  // namespace armci::verbs
