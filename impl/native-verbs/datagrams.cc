#include "impl/native-verbs/datagrams.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace armci::verbs {

namespace {

Status make_ready(const Device& device, ibv_qp* pair, std::uint32_t key) {
  ibv_qp_attr now{};
  now.qp_state = IBV_QPS_INIT;
  now.port_num = device.port_number();
  now.qkey = key;
  int error = ibv_modify_qp(pair, &now, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  if (error != 0) return fail_verbs(error, "ibv_modify_qp of datagrams to INIT");
  now = {};
  now.qp_state = IBV_QPS_RTR;
  error = ibv_modify_qp(pair, &now, IBV_QP_STATE);
  if (error != 0) return fail_verbs(error, "ibv_modify_qp of datagrams to RTR");
  now.qp_state = IBV_QPS_RTS;
  error = ibv_modify_qp(pair, &now, IBV_QP_STATE | IBV_QP_SQ_PSN);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_modify_qp of datagrams to RTS");
}

}  // namespace

Status Datagrams::create(const Device& device, ibv_cq* done, std::size_t receive_buffers, std::size_t bytes,
                         std::uint64_t first_id) {
  device_ = &device;
  first_id_ = first_id;
  ibv_qp_init_attr wanted{};
  wanted.send_cq = done;
  wanted.recv_cq = done;
  wanted.qp_type = IBV_QPT_UD;
  wanted.sq_sig_all = 1;
  wanted.cap.max_send_wr = kSends;
  wanted.cap.max_recv_wr = static_cast<std::uint32_t>(receive_buffers);
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  pair_.reset(ibv_create_qp(device.domain(), &wanted));
  if (pair_ == nullptr) return fail_verbs(errno, "ibv_create_qp of datagrams");
  ARMCI_RETURN_IF_ERROR(make_ready(device, pair_.get(), kKey));
  ARMCI_RETURN_IF_ERROR(received_.make(device, receive_buffers, kHeaderBytes + bytes));
  ARMCI_RETURN_IF_ERROR(sent_.make(device, kSends, bytes));
  for (std::size_t i = 0; i < kSends; ++i) free_.push_back(i);
  for (std::size_t i = 0; i < receive_buffers; ++i) ARMCI_RETURN_IF_ERROR(post_receive(i));
  return kSuccess;
}

Status Datagrams::post_receive(std::size_t buffer) {
  ibv_sge place = received_.piece(buffer, received_.bytes());
  ibv_recv_wr work{};
  work.wr_id = first_id_ + buffer;
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(pair_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_recv of datagrams");
}

Status Datagrams::find_address_handle(const Address& other, ibv_ah** handle) {
  const auto leads_to_other = [&](const AddressHandle& known) {
    return known.lid == other.lid && std::memcmp(known.gid, other.gid, sizeof known.gid) == 0;
  };
  auto found = std::find_if(address_handles_.begin(), address_handles_.end(), leads_to_other);
  if (found == address_handles_.end()) {
    ibv_ah_attr attributes = attributes_to(device(), other);
    AddressHandle made{other.lid, {}, Owned<ibv_ah>(ibv_create_ah(device().domain(), &attributes))};
    if (made.handle == nullptr) return fail_verbs(errno, "ibv_create_ah");
    std::memcpy(made.gid, other.gid, sizeof made.gid);
    found = address_handles_.insert(address_handles_.end(), std::move(made));
  }
  *handle = found->handle.get();
  return kSuccess;
}

Status Datagrams::send(const Address& other, std::span<const char> message) {
  if (free_.empty()) return kSuccess;
  ibv_ah* handle = nullptr;
  ARMCI_RETURN_IF_ERROR(find_address_handle(other, &handle));
  const std::size_t buffer = free_.back();
  free_.pop_back();
  std::memcpy(sent_.at(buffer), message.data(), message.size());
  ibv_sge piece = sent_.piece(buffer, message.size());
  ibv_send_wr work{};
  work.wr_id = first_id_ + received_.count() + buffer;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.ud.ah = handle;
  work.wr.ud.remote_qpn = other.pair;
  work.wr.ud.remote_qkey = other.first;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(pair_.get(), &work, &bad);
  if (error == 0) return kSuccess;
  free_.push_back(buffer);
  return fail_verbs(error, "ibv_post_send of a datagram");
}

void Datagrams::ended(const ibv_wc& work, std::span<const char>* message) {
  *message = {};
  const std::size_t index = work.wr_id - first_id_;
  if (index >= received_.count()) {
    free_.push_back(index - received_.count());
  } else if (work.status == IBV_WC_SUCCESS && work.byte_len >= kHeaderBytes) {
    *message = {received_.at(index) + kHeaderBytes, work.byte_len - kHeaderBytes};
  } else {
    (void)post_receive(index);
  }
}

Status Datagrams::release(std::span<const char> message) {
  return post_receive(static_cast<std::size_t>(message.data() - received_.at(0)) / received_.bytes());
}

}  // namespace armci::verbs
