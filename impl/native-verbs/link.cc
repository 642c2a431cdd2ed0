#include "impl/native-verbs/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

namespace armci::verbs {

using common::kSuccess;
using common::Status;

namespace {

constexpr std::uint32_t kPacketMask = 0xffffff;
constexpr std::uint8_t kReadsMax = 16;
// 4.096 us * 2^14 = 67 ms; seven times before the other side counts as dead.
constexpr std::uint8_t kTimeout = 14;
constexpr std::uint8_t kRetries = 7;
// Without end: a server that has no room for a request makes it wait.
constexpr std::uint8_t kRetriesForRoom = 7;
constexpr std::uint8_t kWaitForRoom = 1;  // 10 us
constexpr std::uint8_t kHopLimit = 64;

std::uint8_t reads_of(const Device& device) {
  return static_cast<std::uint8_t>(std::min<int>(device.limits().max_qp_rd_atom, kReadsMax));
}

}  // namespace

Status Link::create(const Device& device, const Queues& queues) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = queues.done;
  wanted.recv_cq = queues.done;
  wanted.srq = queues.received;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = queues.depth;
  wanted.cap.max_send_sge = 1;
  pair_.reset(ibv_create_qp(device.domain(), &wanted));
  if (pair_ == nullptr) return fail_verbs(errno, "ibv_create_qp");
  std::random_device random;
  first_ = random() & kPacketMask;
  ibv_qp_attr now{};
  now.qp_state = IBV_QPS_INIT;
  now.port_num = device.port_number();
  now.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  const int error =
      ibv_modify_qp(pair_.get(), &now, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_modify_qp to INIT");
}

LinkAddress Link::address(const Device& device) const {
  LinkAddress mine;
  mine.pair = pair_->qp_num;
  mine.first = first_;
  mine.lid = device.lid();
  mine.mtu = static_cast<std::uint8_t>(device.port().active_mtu);
  mine.reads = reads_of(device);
  std::memcpy(mine.gid, device.gid().raw, sizeof mine.gid);
  return mine;
}

Status Link::connect(const Device& device, const LinkAddress& other) {
  ibv_qp_attr now{};
  now.qp_state = IBV_QPS_RTR;
  now.path_mtu =
      static_cast<ibv_mtu>(std::min(static_cast<int>(other.mtu), static_cast<int>(device.port().active_mtu)));
  now.dest_qp_num = other.pair;
  now.rq_psn = other.first;
  now.max_dest_rd_atomic = reads_of(device);
  now.min_rnr_timer = kWaitForRoom;
  now.ah_attr.dlid = other.lid;
  now.ah_attr.port_num = device.port_number();
  if (device.gid_index() >= 0) {
    now.ah_attr.is_global = 1;
    now.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(device.gid_index());
    now.ah_attr.grh.hop_limit = kHopLimit;
    std::memcpy(now.ah_attr.grh.dgid.raw, other.gid, sizeof other.gid);
  }
  int error = ibv_modify_qp(pair_.get(), &now,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return fail_verbs(error, "ibv_modify_qp to RTR");
  now = {};
  now.qp_state = IBV_QPS_RTS;
  now.timeout = kTimeout;
  now.retry_cnt = kRetries;
  now.rnr_retry = kRetriesForRoom;
  now.sq_psn = first_;
  now.max_rd_atomic = std::min(other.reads, reads_of(device));
  error = ibv_modify_qp(
      pair_.get(), &now,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_modify_qp to RTS");
}

Status Link::post(ibv_send_wr* work) const {
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(pair_.get(), work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_send");
}

}  // namespace armci::verbs
