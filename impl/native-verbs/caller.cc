#include "impl/native-verbs/caller.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "impl/node/waiter.h"

namespace armci::verbs {

namespace {

constexpr std::size_t kReceiveBuffers = 8;  // one reply is awaited; others are late copies
// A call is repeated in growing intervals: its message, or the reply, was lost, or the server is slow.
constexpr std::int64_t kFirstWaitUs = 20'000;
constexpr std::int64_t kLongestWaitUs = 1'000'000;
constexpr std::int64_t kGiveUpUs = 60'000'000;

}  // namespace

Status Caller::open(const Device& device, int process) {
  process_ = static_cast<std::uint32_t>(process);
  ARMCI_RETURN_IF_ERROR(device.make_queue(64, nullptr, &done_));
  return datagrams_.create(device, done_.get(), kReceiveBuffers, kCallBytesMax, 0);
}

void Caller::learn(std::vector<Address> servers, std::uint64_t secret) {
  servers_ = std::move(servers);
  secret_ = secret;
}

Status Caller::call(int node, Call call, Reply* reply) {
  std::lock_guard lock(mutex_);
  call.secret = secret_;
  call.sequence = ++sequence_;
  call.process = process_;
  call.reply = datagrams_.address();
  const std::int64_t begun_us = node::now_us();
  std::int64_t wait_us = kFirstWaitUs;
  for (;;) {
    ARMCI_RETURN_IF_ERROR(
        datagrams_.send(servers_[static_cast<std::size_t>(node)], {reinterpret_cast<const char*>(&call), sizeof call}));
    const std::int64_t sent_us = node::now_us();
    node::Waiter waiter(node::WaitKind::kReply);
    while (node::now_us() - sent_us < wait_us) {
      bool come = false;
      ARMCI_RETURN_IF_ERROR(poll(call.sequence, &come, reply));
      if (come) return kSuccess;
      waiter.step();
    }
    if (node::now_us() - begun_us > kGiveUpUs) {
      return fail(Code::kLayerBelow, nullptr,
                  "the server of node %d does not reply; its process has died, or the verbs network to it does not "
                  "carry datagrams (try ibv_ud_pingpong)",
                  node);
    }
    wait_us = std::min(2 * wait_us, kLongestWaitUs);
  }
}

Status Caller::poll(std::uint64_t sequence, bool* come, Reply* reply) {
  std::array<ibv_wc, 8> works;
  const int count = ibv_poll_cq(done_.get(), static_cast<int>(works.size()), works.data());
  if (count < 0)
    return fail(Code::kLayerBelow, nullptr,
                "ibv_poll_cq of the calls to servers failed; read the messages of the device's driver (dmesg)");
  for (int i = 0; i < count; ++i) {
    std::span<const char> message;
    datagrams_.ended(works[static_cast<std::size_t>(i)], &message);
    if (message.empty()) continue;
    Reply one;
    if (message.size() == sizeof one) std::memcpy(&one, message.data(), sizeof one);
    ARMCI_RETURN_IF_ERROR(datagrams_.release(message));
    if (message.size() != sizeof one || one.magic != kReplyMagic || one.secret != secret_ || one.sequence != sequence) {
      continue;
    }
    *reply = one;
    *come = true;
  }
  return kSuccess;
}

}  // namespace armci::verbs
