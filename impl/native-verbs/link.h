// A reliable connection between a process and the server of a node: one queue pair on each side.
//
// Thread safety: none; calls of ibv_post_* are the library's to lock.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "impl/common/status.h"
#include "impl/native-verbs/device.h"

namespace armci::verbs {

// What the other side needs to connect to it. Bytes, for messages.
struct LinkAddress {
  std::uint32_t pair = 0;   // the number of its queue pair
  std::uint32_t first = 0;  // number of its first packet
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;
  std::uint8_t reads = 0;  // requests to read that it answers at a time
  std::uint8_t gid[16] = {};
};

// Where its work is queued and told.
struct Queues {
  ibv_cq* done;
  ibv_srq* received;
  std::uint32_t depth;  // work requests under way at most
};

class Link {
 public:
  common::Status create(const Device& device, const Queues& queues);
  LinkAddress address(const Device& device) const;
  common::Status connect(const Device& device, const LinkAddress& other);

  std::uint32_t number() const { return pair_->qp_num; }
  common::Status post(ibv_send_wr* work) const;

 private:
  Owned<ibv_qp> pair_;
  std::uint32_t first_ = 0;
};

}  // namespace armci::verbs
