#include "impl/native-verbs/neighbours.h"

#include <arpa/inet.h>

namespace armci::verbs {

Status Neighbours::create(const Device& device, ibv_cq* done, const std::vector<int>& servers, std::size_t bytes) {
  for (const int server : servers) {
    all_.push_back(std::make_unique<Neighbour>());
    Neighbour& made = *all_.back();
    made.server = server;
    ARMCI_RETURN_IF_ERROR(made.buffers.make(device, kReceives, bytes));
    ARMCI_RETURN_IF_ERROR(made.sender.create(device, 0, {done, nullptr, kSends, kReceives}));
    by_server_[server] = by_pair_[made.sender.link.number()] = &made;
    for (std::size_t buffer = 0; buffer < kReceives; ++buffer) ARMCI_RETURN_IF_ERROR(receive(&made, buffer));
  }
  return kSuccess;
}

std::vector<Address> Neighbours::addresses(const Device& device) const {
  std::vector<Address> mine;
  for (const auto& one : all_) mine.push_back(one->sender.link.address(device));
  return mine;
}

Status Neighbours::connect(const Device& device, std::span<const Address> others) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    ARMCI_RETURN_IF_ERROR(all_[i]->sender.link.connect(device, others[i]));
  }
  return kSuccess;
}

std::size_t Neighbours::buffer_bytes() const {
  std::size_t bytes = 0;
  for (const auto& one : all_) bytes += one->buffers.total_bytes();
  return bytes;
}

Status Neighbours::receive(Neighbour* from, std::size_t buffer) {
  ibv_sge place = from->buffers.piece(buffer, from->buffers.bytes());
  return from->sender.link.receive({&place, 1}, WorkId{true, 0, buffer}.packed());
}

Status Neighbours::ended(const ibv_wc& work, FromServer* message) {
  Neighbour& from = *by_pair_.at(work.qp_num);
  const WorkId id = WorkId::of(work.wr_id);
  if (work.status != IBV_WC_SUCCESS) {
    return fail(Code::kLayerBelow, nullptr,
                "%s the server of node %d failed: %s; that process has died, or the network between is down",
                id.received ? "a request from" : "forwarding to", from.server, ibv_wc_status_str(work.status));
  }
  if (!id.received) {
    from.sender.retire(id.number, [](char) {});
    return send(&from);
  }
  message->server = from.server;
  if ((work.wc_flags & IBV_WC_WITH_IMM) == 0) {
    message->request = {from.buffers.at(id.number), work.byte_len};
    return kSuccess;
  }
  message->is_acknowledgement = true;
  message->acknowledgement = ntohl(work.imm_data);
  return receive(&from, id.number);
}

Status Neighbours::forward(int server, const ibv_sge& request) {
  of(server).waiting.push_back({request, 0});
  return send(&of(server));
}

Status Neighbours::acknowledge(int server, std::uint32_t acknowledgement) {
  of(server).waiting.push_back({{}, acknowledgement});
  return send(&of(server));
}

Status Neighbours::send(Neighbour* to) {
  while (!to->waiting.empty() && to->sender.can_post()) {
    const Outgoing next = to->waiting.front();
    to->waiting.pop_front();
    Work work{IBV_WR_SEND, {&next.request, 1}};
    if (next.request.length == 0) work = {IBV_WR_SEND_WITH_IMM, {}, 0, 0, false, false, next.acknowledgement};
    char* entry = nullptr;
    ARMCI_RETURN_IF_ERROR(to->sender.add(work, &entry));
  }
  return to->sender.link.submit();
}

Status Neighbours::release(int server, const char* request) {
  Neighbour& from = of(server);
  return receive(&from, static_cast<std::size_t>(request - from.buffers.at(0)) / from.buffers.bytes());
}

}  // namespace armci::verbs
