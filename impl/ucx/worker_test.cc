// A worker keeps the events of a role while the other one polls, over the transports that UCX takes in a process; and
// it wakes the server thread for arrivals, over TCP as between nodes.
#include "impl/ucx/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "impl/node/wait.h"

namespace armci::ucx {
namespace {

constexpr unsigned kForClient = 1;
constexpr unsigned kForServer = 2;

// Two workers; the first one sends to the second.
class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(context_.open(2, false).ok());
    std::vector<std::string> addresses(2);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(workers_[i].open(context_).ok());
      ASSERT_TRUE(workers_[i].address(&addresses[i]).ok());
    }
    for (Worker& worker : workers_) worker.set_addresses(addresses);
    for (const auto& [id, role] : {std::pair{kForClient, Role::kClient}, std::pair{kForServer, Role::kServer}}) {
      ASSERT_TRUE(receiver()
                      .handle_messages(id, role,
                                       [this, id = id](std::span<const char>, std::span<char> data) {
                                         received_.push_back({id, {data.begin(), data.end()}});
                                       })
                      .ok());
    }
  }

  void TearDown() override {
    std::atomic<bool> over{false};
    std::thread other([&] {
      receiver().close_endpoints();
      while (!over) (void)receiver().poll(Role::kServer);
    });
    workers_[0].close_endpoints();
    over = true;
    other.join();
  }

  Worker& receiver() { return workers_[1]; }

  void send(unsigned id, const std::vector<char>& data) {
    const Worker::Use use(&workers_[0], Role::kClient);
    ucp_ep_h endpoint = nullptr;
    ASSERT_TRUE(workers_[0].endpoint(1, &endpoint).ok());
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    const ucs_status_ptr_t request = ucp_am_send_nbx(endpoint, id, nullptr, 0, data.data(), data.size(), &param);
    ASSERT_FALSE(UCS_PTR_IS_ERR(request));
    if (request == nullptr) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
      ucp_worker_progress(workers_[0].handle());
      (void)receiver().poll(Role::kClient);
    }
    ucp_request_free(request);
  }

  // Both workers, so that messages leave and arrive.
  void poll(Role role) {
    (void)workers_[0].poll(Role::kClient);
    (void)receiver().poll(role);
  }
  // Long enough for a message to arrive, unless it is late.
  void poll_often(Role role) {
    for (int i = 0; i < 2000; ++i) poll(role);
  }

  struct Message {
    unsigned id;
    std::vector<char> data;
    bool operator==(const Message&) const = default;
  };

  Context context_;
  Worker workers_[2];
  std::vector<Message> received_;
};

// UCX may crash if a callback creates an endpoint to the process whose messages it reads.
TEST_F(WorkerTest, a_callback_contacts_a_process_when_ucx_has_returned) {
  constexpr unsigned kRequest = 3;
  constexpr unsigned kReply = 4;
  std::string text = "ab";
  int issued = 0;
  int completed = 0;
  const auto reply = [&](std::size_t first) {
    return receiver().issue(
        Role::kServer, 0, "ucp_am_send_nbx", {},
        [&, first](ucp_ep_h to, const ucp_request_param_t* param) {
          ++issued;
          return ucp_am_send_nbx(to, kReply, nullptr, 0, &text[first], 1, param);
        },
        [&completed](ucs_status_t status) { completed += status == UCS_OK ? 1 : 0; });
  };
  const auto answer = [&](std::span<const char>, std::span<char>) {
    const int before = issued;
    EXPECT_TRUE(reply(0).ok());
    EXPECT_TRUE(reply(1).ok());
    EXPECT_EQ(issued, before == 0 ? 0 : before + 2);
  };
  std::string received;
  const auto receive = [&received](std::span<const char>, std::span<char> data) {
    received.append(data.begin(), data.end());
  };
  ASSERT_TRUE(receiver().handle_messages(kRequest, Role::kServer, answer).ok());
  ASSERT_TRUE(workers_[0].handle_messages(kReply, Role::kClient, receive).ok());
  for (int requests = 1; requests <= 2; ++requests) {
    send(kRequest, {});
    while (completed < 2 * requests || received.size() < 2U * static_cast<unsigned>(requests)) poll(Role::kServer);
  }
  EXPECT_EQ(received, "abab");
}

class WorkerOverTcpTest : public WorkerTest {
 protected:
  void SetUp() override {
    setenv("UCX_TLS", "tcp", 1);
    WorkerTest::SetUp();
    unsetenv("UCX_TLS");
    send(kForServer, {0});  // connects
    while (received_.empty()) poll(Role::kServer);
  }

  // As the client of the receiver's process.
  void client_sends() {
    const Worker::Use use(&receiver(), Role::kClient);
    receiver().note_send_of_client();
  }
  // Sends to the server after a millisecond, mostly within a sleep of the server.
  std::thread sender(std::atomic<bool>* over) {
    return std::thread([this, over] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      send(kForServer, {1});
      while (!*over) (void)workers_[0].poll(Role::kClient);
    });
  }
};

TEST_F(WorkerTest, keeps_messages_of_every_length_for_the_other_role) {
  for (const std::size_t bytes : {8, 1000, 20000, 300000}) {
    std::vector<char> data(bytes);
    std::iota(data.begin(), data.end(), static_cast<char>(bytes));
    const std::size_t before = received_.size();
    send(kForServer, data);
    poll_often(Role::kClient);
    EXPECT_EQ(received_.size(), before);
    while (received_.size() == before) poll(Role::kServer);
    EXPECT_EQ(received_.back(), (Message{kForServer, data}));
  }
}

TEST_F(WorkerTest, takes_messages_of_the_role_that_polls_at_once) {
  send(kForClient, {1, 2, 3, 4, 5, 6, 7, 8});
  send(kForServer, {8, 7, 6, 5, 4, 3, 2, 1});
  while (received_.empty()) poll(Role::kClient);
  ASSERT_EQ(received_.size(), 1U);
  EXPECT_EQ(received_[0].id, kForClient);
  while (received_.size() == 1) poll(Role::kServer);
  EXPECT_EQ(received_[1].id, kForServer);
}

TEST_F(WorkerOverTcpTest, a_poll_of_the_server_finds_only_events_of_the_server) {
  send(kForClient, {1});
  for (int i = 0; i < 2000; ++i) {
    (void)workers_[0].poll(Role::kClient);
    EXPECT_FALSE(receiver().poll(Role::kServer));
  }
  send(kForServer, {2});
  while (!receiver().poll(Role::kServer)) (void)workers_[0].poll(Role::kClient);
  EXPECT_EQ(received_.back(), (Message{kForServer, {2}}));
  while (received_.size() < 3) poll(Role::kClient);
}

TEST_F(WorkerOverTcpTest, wakes_a_role_for_which_the_other_one_keeps_a_message) {
  constexpr std::int64_t kWithoutEnd = -1;
  for (int i = 0; i < 50; ++i) {
    while (!receiver().arm(Role::kServer)) (void)receiver().poll(Role::kServer);
    send(kForServer, {1});
    // The other role takes the message from the network before the sleep begins.
    poll_often(Role::kClient);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the client is not busy any more
    receiver().await_event(Role::kServer, false, kWithoutEnd);
    while (received_.size() < static_cast<std::size_t>(i) + 2) poll(Role::kServer);
  }
}

TEST_F(WorkerTest, a_signal_before_a_sleep_or_within_it_ends_it) {
  constexpr std::int64_t kWithoutEnd = -1;
  receiver().signal(Role::kServer);
  EXPECT_FALSE(receiver().arm(Role::kServer));
  ASSERT_TRUE(receiver().arm(Role::kServer));
  receiver().signal(Role::kServer);
  receiver().await_event(Role::kServer, false, kWithoutEnd);
  EXPECT_FALSE(receiver().arm(Role::kServer));
  ASSERT_TRUE(receiver().arm(Role::kServer));
  std::thread other([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    receiver().signal(Role::kServer);
  });
  receiver().await_event(Role::kServer, false, kWithoutEnd);
  other.join();
}

// Without an arrival or a signal only the sends end these sleeps.
TEST_F(WorkerOverTcpTest, sends_of_the_client_end_a_sleep_without_end) {
  constexpr std::int64_t kWithoutEnd = -1;
  std::atomic<bool> over{false};
  std::thread server([&] {
    for (int i = 0; i < 20; ++i) {
      while (!receiver().arm(Role::kServer)) (void)receiver().poll(Role::kServer);
      receiver().await_event(Role::kServer, false, kWithoutEnd);
    }
    over = true;
  });
  while (!over) {
    client_sends();
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // now and then the server sleeps before a send
  }
  server.join();
}

// Sends from another thread switch the event off before, during or after a sleep.
TEST_F(WorkerOverTcpTest, an_arrival_ends_a_sleep_of_the_server_also_after_sends_of_the_client) {
  constexpr std::int64_t kWithoutEnd = -1;
  for (std::size_t i = 0; i < 50; ++i) {
    std::atomic<bool> over{false};
    std::thread client([&] {
      for (std::size_t sends = 0; sends < i % 4; ++sends) {
        client_sends();
        std::this_thread::sleep_for(std::chrono::microseconds(150 * i % 400));  // at other moments of a sleep each time
      }
    });
    std::thread sends_later = sender(&over);
    while (received_.size() < i + 2) {
      if (receiver().arm(Role::kServer)) receiver().await_event(Role::kServer, false, kWithoutEnd);
      (void)receiver().poll(Role::kServer);
    }
    over = true;
    client.join();
    sends_later.join();
  }
}

// A timer that was not read would end each of them at once.
TEST_F(WorkerOverTcpTest, sleeps_of_the_server_last_while_the_client_is_busy) {
  constexpr int kTimes = 10;
  std::atomic<bool> over{false};
  std::thread client([&] {
    for (int i = 0; i < kTimes; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the server sleeps until an event
      client_sends();
      receiver().signal(Role::kServer);  // before the timer does
      for (const std::int64_t begin_us = node::now_us(); node::now_us() - begin_us < 5000;) client_sends();
    }
    over = true;
    receiver().signal(Role::kServer);
  });
  int sleeps = 0;
  for (; !over; ++sleeps) {
    if (receiver().arm(Role::kServer)) receiver().await_event(Role::kServer, false, -1);
  }
  client.join();
  EXPECT_LT(sleeps, 50 * kTimes);
}

TEST_F(WorkerTest, a_sleep_can_wait_for_both_roles) {
  ASSERT_TRUE(receiver().arm(Role::kClient));
  ASSERT_TRUE(receiver().arm(Role::kServer));
  receiver().signal(Role::kClient);
  receiver().await_event(Role::kServer, true, -1);
  EXPECT_FALSE(receiver().arm(Role::kClient));
}

}  // namespace
}  // namespace armci::ucx
