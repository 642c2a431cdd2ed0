#include "impl/native-verbs/link.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace armci::verbs {

namespace {

constexpr std::uint32_t kPacketMask = 0xffffff;
constexpr std::uint8_t kReadsMax = 16;
// 4.096 us * 2^17 = 0.5 s before a packet is sent again, six times before the other side counts as dead; devices may
// take up to four times as long. rdma_rxe takes seven for "without end".
constexpr std::uint8_t kTimeout = 17;
constexpr std::uint8_t kRetries = 6;
// Without limit: the device retries a send until the server has posted a receive buffer.
constexpr std::uint8_t kReceiverNotReadyRetries = 7;
constexpr std::uint8_t kReceiverNotReadyTimer = 1;  // 10 us
constexpr std::uint32_t kPiecesMax = 32;
constexpr std::uint32_t kByValueMax = 256;

// The reads that a device serves at a time, or issues.
std::uint8_t at_a_time(int limit) { return static_cast<std::uint8_t>(std::clamp<int>(limit, 1, kReadsMax)); }

Status check_limits(const Device& device, const LinkParts& parts) {
  const auto most = static_cast<std::uint32_t>(device.limits().max_qp_wr);
  if (parts.shared != nullptr || parts.receives <= most) return kSuccess;
  return fail(Code::kUnsupported, nullptr,
              "the verbs device %s has queues of %u, too few for %u replies; lower ARMCI_VERBS_BOUNCES", device.name(),
              most, parts.receives);
}

// A device does not report how much it sends by value: the length is halved until the device accepts it.
ibv_qp* create_pair(const Device& device, ibv_qp_init_attr wanted) {
  for (std::uint32_t by_value = kByValueMax;; by_value = by_value > 16 ? by_value / 2 : 0) {
    wanted.cap.max_inline_data = by_value;
    ibv_qp_init_attr tried = wanted;
    if (ibv_qp* const pair = ibv_create_qp(device.domain(), &tried); pair != nullptr || by_value == 0) return pair;
  }
}

}  // namespace

Status Link::create(const Device& device, const LinkParts& parts) {
  ARMCI_RETURN_IF_ERROR(check_limits(device, parts));
  const auto pieces = std::min(kPiecesMax, static_cast<std::uint32_t>(device.limits().max_sge));
  ibv_qp_init_attr wanted{};
  wanted.send_cq = parts.done;
  wanted.recv_cq = parts.done;
  wanted.srq = parts.shared;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = std::min(parts.sends, static_cast<std::uint32_t>(device.limits().max_qp_wr));
  wanted.cap.max_recv_wr = parts.shared == nullptr ? parts.receives : 0;
  wanted.cap.max_send_sge = pieces;
  wanted.cap.max_recv_sge = parts.shared == nullptr ? pieces : 0;
  pair_.reset(create_pair(device, wanted));
  if (pair_ == nullptr) return fail_verbs(errno, "ibv_create_qp");
  ibv_qp_attr now{};
  ibv_qp_init_attr made{};
  if (const int error = ibv_query_qp(pair_.get(), &now, IBV_QP_CAP, &made); error != 0) {
    return fail_verbs(error, "ibv_query_qp");
  }
  sends_max_ = made.cap.max_send_wr;
  pieces_max_ = pieces;
  pieces_read_max_ = std::clamp<std::size_t>(static_cast<std::size_t>(device.limits().max_sge_rd), 1, pieces);
  by_value_max_ = std::min(made.cap.max_inline_data, kByValueMax);
  pieces_.resize(kBatch * pieces_max_);
  std::random_device random;
  first_ = random() & kPacketMask;
  now = {};
  now.qp_state = IBV_QPS_INIT;
  now.port_num = device.port_number();
  now.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  const int error =
      ibv_modify_qp(pair_.get(), &now, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_modify_qp to INIT");
}

Address Link::address(const Device& device) const {
  Address mine = address_on(device, pair_->qp_num, first_);
  mine.reads = at_a_time(device.limits().max_qp_rd_atom);
  mine.pieces = static_cast<std::uint8_t>(pieces_max_);
  return mine;
}

Status Link::connect(const Device& device, const Address& other) {
  common_pieces_max_ = std::min<std::size_t>(pieces_max_, other.pieces);
  ibv_qp_attr now{};
  now.qp_state = IBV_QPS_RTR;
  now.path_mtu = static_cast<ibv_mtu>(std::min<int>(other.mtu, device.port().active_mtu));
  now.dest_qp_num = other.pair;
  now.rq_psn = other.first;
  now.max_dest_rd_atomic = at_a_time(device.limits().max_qp_rd_atom);
  now.min_rnr_timer = kReceiverNotReadyTimer;
  now.ah_attr = attributes_to(device, other);
  int error = ibv_modify_qp(pair_.get(), &now,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return fail_verbs(error, "ibv_modify_qp to RTR");
  now = {};
  now.qp_state = IBV_QPS_RTS;
  now.timeout = kTimeout;
  now.retry_cnt = kRetries;
  now.rnr_retry = kReceiverNotReadyRetries;
  now.sq_psn = first_;
  now.max_rd_atomic = std::min(other.reads, at_a_time(device.limits().max_qp_init_rd_atom));
  error = ibv_modify_qp(
      pair_.get(), &now,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_modify_qp to RTS");
}

Status Link::add(const Work& work, std::uint64_t id) {
  if (batched_ == kBatch) ARMCI_RETURN_IF_ERROR(submit());
  ibv_sge* const pieces = pieces_.data() + batched_ * pieces_max_;
  std::copy(work.pieces.begin(), work.pieces.end(), pieces);
  ibv_send_wr& wr = works_[batched_];
  wr = {};
  wr.wr_id = id;
  wr.sg_list = pieces;
  wr.num_sge = static_cast<int>(work.pieces.size());
  wr.opcode = work.opcode;
  if (work.signaled) wr.send_flags |= IBV_SEND_SIGNALED;
  if (work.by_value) wr.send_flags |= IBV_SEND_INLINE;
  wr.wr.rdma.remote_addr = work.remote;
  wr.wr.rdma.rkey = work.key;
  wr.imm_data = htonl(work.immediate);
  if (batched_ > 0) works_[batched_ - 1].next = &wr;
  ++batched_;
  return kSuccess;
}

Status Link::submit() {
  if (batched_ == 0) return kSuccess;
  batched_ = 0;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(pair_.get(), works_.data(), &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_send");
}

Status Link::receive(std::span<ibv_sge> iov, std::uint64_t id) {
  ibv_recv_wr work{};
  work.wr_id = id;
  work.sg_list = iov.data();
  work.num_sge = static_cast<int>(iov.size());
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(pair_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_recv");
}

void Link::end() {
  batched_ = 0;  // the memory that the batch points to may be gone
  ibv_qp_attr now{};
  now.qp_state = IBV_QPS_ERR;
  if (pair_ != nullptr) (void)ibv_modify_qp(pair_.get(), &now, IBV_QP_STATE);
}

}  // namespace armci::verbs
