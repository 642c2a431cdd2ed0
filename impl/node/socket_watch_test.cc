#include "impl/node/socket_watch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "impl/node/wait.h"

namespace armci::node {
namespace {

constexpr std::int64_t kSoonUs = 1000;
constexpr std::int64_t kMinuteUs = 60'000'000;

// Two ends of a connection over the loopback interface.
class Connection {
 public:
  Connection() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener, any, length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, any, &length), 0);
    sender_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(sender_, any, length), 0);
    receiver_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    close(listener);
  }
  ~Connection() {
    close(sender_);
    close(receiver_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send() const { EXPECT_EQ(write(sender_, "x", 1), 1); }

 private:
  int sender_ = -1;
  int receiver_ = -1;
};

// Takes the edge that each socket has after its scan.
void take_edges(SocketWatch* watch) {
  while (watch->sleep(kSoonUs)) {
  }
}

TEST(SocketWatchTest, ArrivingDataWakes) {
  const Connection connection;
  SocketWatch watch;
  watch.scan();
  take_edges(&watch);
  std::thread sender([&] { connection.send(); });
  EXPECT_TRUE(watch.sleep(kMinuteUs));
  sender.join();
}

TEST(SocketWatchTest, DataThatStaysUnreadWakesOnce) {
  const Connection connection;
  SocketWatch watch;
  watch.scan();
  connection.send();
  EXPECT_TRUE(watch.sleep(kMinuteUs));
  EXPECT_FALSE(watch.sleep(kSoonUs));
  connection.send();
  EXPECT_TRUE(watch.sleep(kMinuteUs));
}

TEST(SocketWatchTest, ASocketOpenedLaterIsSeenAfterTheNextScan) {
  SocketWatch watch;
  watch.scan();
  const Connection connection;
  connection.send();
  EXPECT_FALSE(watch.sleep(kSoonUs));
  watch.scan();
  take_edges(&watch);
  connection.send();
  EXPECT_TRUE(watch.sleep(kMinuteUs));
}

TEST(SocketWatchTest, ADueScanAddsASocket) {
  SocketWatch watch;
  watch.scan();
  const Connection connection;
  connection.send();
  do {
    watch.scan_when_due();
  } while (!watch.sleep(kSoonUs));
}

TEST(SocketWatchTest, ScansAreEverMoreSeldomUntilOneAddsASocket) {
  std::int64_t pause_us = scan_pause_us(0, 0, 5);
  EXPECT_EQ(pause_us, 1000);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t next_us = scan_pause_us(pause_us, 0, 5);
    EXPECT_TRUE(next_us == 2 * pause_us || next_us == 10'000'000);
    pause_us = next_us;
  }
  EXPECT_EQ(pause_us, 10'000'000);
  EXPECT_EQ(scan_pause_us(pause_us, 1, 5), 1000);
  EXPECT_EQ(scan_pause_us(pause_us, 1, 3000), 30'000) << "a tenth of the time at most";
}

TEST(SocketWatchTest, ASleepThroughSleepsThrough) {
  const Connection connection;
  SocketWatch watch;
  watch.scan();
  connection.send();
  const std::int64_t start_us = now_us();
  watch.sleep_through(5 * kSoonUs);
  EXPECT_GE(now_us() - start_us, 5 * kSoonUs);
}

TEST(SocketWatchTest, WakeEndsSleepsForGood) {
  SocketWatch watch;
  watch.scan();
  std::thread waker([&] { watch.wake(); });
  watch.sleep_through(kMinuteUs);
  EXPECT_FALSE(watch.sleep(kMinuteUs));
  waker.join();
}

TEST(SocketWatchTest, TwoSleepersWake) {
  const Connection connection;
  SocketWatch watch;
  watch.scan();
  std::atomic<int> awake{0};
  std::thread other([&] {
    watch.sleep(kMinuteUs);
    ++awake;
  });
  // Each arrival wakes at least one of them.
  while (awake.load() == 0) {
    connection.send();
    watch.sleep(kSoonUs);
  }
  other.join();
}

}  // namespace
}  // namespace armci::node
