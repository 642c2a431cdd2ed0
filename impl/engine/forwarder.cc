#include "impl/engine/forwarder.h"

#include <cstddef>
#include <cstring>

namespace armci::engine {

Status Forwarder::forward(int server, const Done& request) {
  routes_[static_cast<std::size_t>(server)].waiting.push_back(request);
  return send_on(server);
}

// The numbers of one route count up, modulo kForwardNumbers: the other server restores the order by them.
Status Forwarder::send_on(int server) {
  Route& route = routes_[static_cast<std::size_t>(server)];
  while (route.credits > 0 && !route.waiting.empty()) {
    Done next = std::move(route.waiting.front());
    route.waiting.pop_front();
    --route.credits;
    const std::uint32_t forward_number = route.last_number = (route.last_number + 1) % kForwardNumbers;
    std::memcpy(next.arrival.message.data() + offsetof(RequestHeader, forward_number), &forward_number,
                sizeof forward_number);
    ARMCI_RETURN_IF_ERROR(wire_.forward(server, next.arrival));
    route.sent.emplace(forward_number, next);
  }
  return kSuccess;
}

Status Forwarder::acknowledged(int server, std::uint32_t acknowledgement, Done* done) {
  const bool known = server >= 0 && static_cast<std::size_t>(server) < routes_.size();
  Route* const route = known ? &routes_[static_cast<std::size_t>(server)] : nullptr;
  const auto found = known ? route->sent.find(acknowledged_number(acknowledgement)) : decltype(route->sent.end()){};
  if (!known || found == route->sent.end()) {
    return fail(Code::kLayerBelow, nullptr,
                "server %d acknowledged a request that was not forwarded; link all processes with the same library",
                server);
  }
  *done = found->second;
  done->is_refused = (acknowledgement & kAcknowledgesRefusal) != 0;
  route->sent.erase(found);
  ++route->credits;
  return send_on(server);
}

}  // namespace armci::engine
