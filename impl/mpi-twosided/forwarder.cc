#include "impl/mpi-twosided/forwarder.h"

#include <cstring>

namespace armci::twosided {

Status Forwarder::open(const std::vector<int>& servers, const std::vector<int>& neighbours) {
  routes_.resize(servers.size());
  for (const int node : neighbours) {
    routes_[static_cast<std::size_t>(node)] = {servers[static_cast<std::size_t>(node)], credits_each_, {}};
  }
  return acks_.open(neighbours.size() * static_cast<std::size_t>(credits_each_), "acks");
}

Status Forwarder::forward(const MessagePool::Message& message, const RequestHeader& header, std::uint64_t ticket) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t number = free_slots_.back();
  free_slots_.pop_back();
  slots_[number] = {{message.buffer, header.origin, ticket}, message.bytes, header.node, false, MPI_REQUEST_NULL};
  std::memcpy(message.buffer->data.get() + offsetof(RequestHeader, slot), &number, sizeof number);
  Route& route = routes_[header.node];
  route.waiting.push_back(number);
  return send_on(&route);
}

Status Forwarder::send_on(Route* route) {
  while (route->credits > 0 && !route->waiting.empty()) {
    Slot& slot = slots_[route->waiting.front()];
    route->waiting.pop_front();
    --route->credits;
    slot.sent = true;
    ARMCI_MPI(MPI_Isend(slot.what.buffer->data.get(), static_cast<int>(slot.bytes), MPI_BYTE, route->server,
                        kRequestTag, comm_, &slot.request));
  }
  return kSuccess;
}

Status Forwarder::next_done(Done* done) {
  *done = {};
  MessagePool::Message message;
  ARMCI_RETURN_IF_ERROR(acks_.take(&message));
  if (message.buffer == nullptr) return kSuccess;
  ReplyHeader reply;
  if (message.bytes == sizeof reply) std::memcpy(&reply, message.buffer->data.get(), sizeof reply);
  const auto number = static_cast<std::uint32_t>(reply.value);
  if (message.bytes != sizeof reply || reply.value >= slots_.size() || !slots_[number].sent) {
    return fail(Code::kLayerBelow, nullptr,
                "rank %d sent an ack for a request that was not forwarded; link all processes with the same library",
                message.source);
  }
  ARMCI_RETURN_IF_ERROR(acks_.post(message.buffer));
  Slot& slot = slots_[number];
  // The request has been executed, so its send is complete.
  ARMCI_MPI(MPI_Wait(&slot.request, MPI_STATUS_IGNORE));
  slot.sent = false;
  *done = slot.what;
  free_slots_.push_back(number);
  Route& route = routes_[slot.node];
  ++route.credits;
  return send_on(&route);
}

}  // namespace armci::twosided
