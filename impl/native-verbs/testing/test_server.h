// The server of a node with all processes of a job, in the process of a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/server.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/server_wire.h"

namespace armci::verbs {

inline constexpr std::uint64_t kSecret = 0x1122334455667788;
inline constexpr std::uint32_t kRequests = 4;  // of a process
inline constexpr std::size_t kMessageBytes = 1024;

class TestServer {
 public:
  TestServer(const Device& device, int processes)
      : wire_(device, {16, kMessageBytes, kRequests}, routes(processes), 0, [](int) { return true; }),
        server_(&wire_, routes(processes), 0, {.credits = kRequests}) {}

  void start() {
    ASSERT_TRUE(server_.open().ok()) << last_cause().text;
    wire_.set_secret(kSecret);
    ASSERT_TRUE(server_.start(nullptr, nullptr, "armci-server").ok());
  }
  // Of the threads of process 0.
  void set_wake_up(node::WakeUp* wake_up) { wire_.set_wake_ups({wake_up}); }
  // Its queues stay.
  void stop() { server_.stop(); }
  Address address() const { return wire_.address(); }

  static engine::Routes routes(int processes) {
    return {std::vector<int>(static_cast<std::size_t>(processes), 0), 1, 1};
  }

 private:
  ServerWire wire_;
  engine::Server server_;
};

}  // namespace armci::verbs
