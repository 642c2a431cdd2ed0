// A connection of a process to itself, for tests on a real device: what the device reads from memory.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/link.h"
#include "impl/native-verbs/registrations.h"
#include "impl/runtime/config.h"

namespace armci::verbs {

inline void open_device(Device* device) {
  runtime::Config config;
  ASSERT_TRUE(runtime::load_config(&config).ok());
  ASSERT_TRUE(device->open().ok()) << last_cause().text;
}

class Loop {
 public:
  void open() {
    open_device(&device);
    ASSERT_TRUE(device.make_queue(64, nullptr, &done_).ok());
    for (Link& link : links_) ASSERT_TRUE(link.create(device, {done_.get(), nullptr, 16, 16}).ok());
    ASSERT_TRUE(links_[0].connect(device, links_[1].address(device)).ok());
    ASSERT_TRUE(links_[1].connect(device, links_[0].address(device)).ok());
    placed_.resize(kBytesMax);
    target_.reset(
        ibv_reg_mr(device.domain(), placed_.data(), placed_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    ASSERT_NE(target_, nullptr);
  }

  // The data that the device writes from this address with this key.
  std::string written(const void* from, std::size_t bytes, std::uint32_t key) {
    const ibv_sge piece{reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes), key};
    const Work work{IBV_WR_RDMA_WRITE, {&piece, 1}, reinterpret_cast<std::uintptr_t>(placed_.data()),
                    target_->rkey,     true,        false};
    EXPECT_TRUE(links_[0].add(work, 1).ok());
    EXPECT_TRUE(links_[0].submit().ok());
    ibv_wc ended{};
    while (ibv_poll_cq(done_.get(), 1, &ended) == 0) {
    }
    EXPECT_EQ(ended.status, IBV_WC_SUCCESS) << ibv_wc_status_str(ended.status);
    return std::string(placed_.data(), bytes);
  }

  // The same of memory that the registrations know, or come to know; empty if it has to be copied.
  std::string sent(Registrations& registrations, const void* from, std::size_t bytes) {
    std::string all;
    const char* next = static_cast<const char*>(from);
    while (all.size() < bytes) {
      MemoryRegion region;
      if (!registrations.take(next, bytes - all.size(), &region)) return {};
      all += written(next, region.bytes, region.key);
      next += region.bytes;
      if (region.held != nullptr) registrations.release(region.held);
    }
    return all;
  }

  Device device;

 private:
  static constexpr std::size_t kBytesMax = std::size_t{2} << 20;
  Owned<ibv_cq> done_;
  std::array<Link, 2> links_;
  std::vector<char> placed_;
  Owned<ibv_mr> target_;
};

}  // namespace armci::verbs
