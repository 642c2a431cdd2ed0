// Needs a verbs device. The client detects a dead server during any pending operation.
#include "impl/native-verbs/connection_manager.h"

#include <memory>

#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/server.h"
#include "impl/native-verbs/testing/loop.h"

namespace armci::verbs {
namespace {

constexpr std::uint64_t kSecret = 0x1122334455667788;
constexpr CacheBounds kCache{1, 1};
constexpr Work kEmptyWrite{IBV_WR_RDMA_WRITE, {}, 0, 0, true, false};

class ConnectionManagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open_device(&device_);
    server_ = std::make_unique<Server>(device_, 1, [](int) { return true; });
    ASSERT_TRUE(server_->open({16, 1024, 4}).ok()) << last_cause().text;
    ASSERT_TRUE(server_->start(kSecret).ok());
    ASSERT_TRUE(caller_.open(device_, 0).ok());
    caller_.learn({server_->address()}, kSecret);
    ASSERT_TRUE(connections_.open({4, 1024, 16, 4}).ok());
    lock_ = connections_.lock();
    ASSERT_TRUE(connections_.reach(lock_, 0).ok()) << last_cause().text;
  }

  void expect_death(Status status) {
    EXPECT_FALSE(status.ok());
    EXPECT_NE(std::string(last_cause().text).find("node 0 (process 0)"), std::string::npos);
    EXPECT_NE(std::string(last_cause().text).find("has died"), std::string::npos);
  }

  Status send_request(const char* text) {
    const ibv_sge message{reinterpret_cast<std::uintptr_t>(text), 8, 0};
    ARMCI_RETURN_IF_ERROR(connections_.post_request(lock_, 0, {message, true, ConnectionManager::kNoBounce, true}, {}));
    return connections_.submit(0);
  }

  Device device_;
  std::unique_ptr<Server> server_;
  Registrations registrations_{device_, kCache};
  Caller caller_;
  ConnectionManager connections_{device_, &registrations_, &caller_, {0}};
  ConnectionManager::Lock lock_;
};

TEST_F(ConnectionManagerTest, AWriteToADeadServerFails) {
  server_.reset();
  ASSERT_TRUE(connections_.post(lock_, 0, kEmptyWrite, {}).ok());
  expect_death(connections_.flush(lock_, 0));
}

TEST_F(ConnectionManagerTest, ARequestToADeadServerFails) {
  server_.reset();
  ASSERT_TRUE(send_request("a request").ok());
  expect_death(connections_.await_executed(lock_, 0));
}

TEST_F(ConnectionManagerTest, ARequestThatHadArrivedBeforeItDiedFails) {
  server_->stop();
  ASSERT_TRUE(send_request("a request").ok());
  // A write behind it has been acknowledged, and so has the request.
  ASSERT_TRUE(connections_.post(lock_, 0, kEmptyWrite, {}).ok());
  ASSERT_TRUE(connections_.wait(lock_, {0, 2, 0}).ok());
  server_.reset();
  expect_death(connections_.await_executed(lock_, 0));
}

}  // namespace
}  // namespace armci::verbs
