// The execution of requests, and their replies.
#include <atomic>
#include <cstring>

#include "impl/native-verbs/server.h"
#include "impl/server/execute.h"

namespace armci::verbs {
using server::Request;
using server::RequestKind;

namespace {

// The number of rows bounds a zero-copy reply. Their length does not.
constexpr std::size_t kInPlaceBytesMax = std::size_t{1} << 26;

}  // namespace

Status Server::serve_arrivals() {
  while (!arrivals_.empty()) {
    const Arrival& next = arrivals_.front();
    Peer& peer = peers_[static_cast<std::size_t>(next.process)];
    if (!can_post(peer)) break;
    ARMCI_RETURN_IF_ERROR(execute(next, &peer));
    ARMCI_RETURN_IF_ERROR(peer.sender.link.submit());
    ARMCI_RETURN_IF_ERROR(post_receive(next.buffer));
    arrivals_.pop_front();
  }
  return kSuccess;
}

Status Server::decode(const Arrival& arrival, Request* request) const {
  const Status valid =
      server::decode({requests_.at(arrival.buffer), arrival.bytes}, is_inside_, {kInPlaceBytesMax, 0}, request);
  if (!valid.ok()) return note(valid, "from process %d", arrival.process);
  if (request->header.origin != static_cast<std::uint32_t>(arrival.process)) {
    return fail(Code::kLayerBelow, nullptr,
                "a request of process %d names process %u as its origin; link all processes with the same library",
                arrival.process, request->header.origin);
  }
  const bool is_get = request->header.kind == RequestKind::kGet;
  const bool packed = is_get && !request->data_alone();
  if (request->header.kind == RequestKind::kDisconnect || request->data_follow() ||
      (packed && request->total_bytes() > replies_.bytes())) {
    return fail(
        Code::kLayerBelow, nullptr,
        "process %d sent a request of a kind that servers do not execute; link all processes with the same library",
        arrival.process);
  }
  return kSuccess;
}

// Memory ordering: the stores are visible to all processes of the node before the reply is visible to any [FENCE-1].
Status Server::execute(const Arrival& arrival, Peer* peer) {
  Request request;
  ARMCI_RETURN_IF_ERROR(decode(arrival, &request));
  if (request.header.kind == RequestKind::kAtomic) {
    const std::uint64_t before = server::execute_atomic(request.header);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return reply_bytes(peer, &before, sizeof before);
  }
  if (request.is_store()) {
    server::store(request, request.data.data());
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return reply_bytes(peer, nullptr, 0);
  }
  return request.data_alone() ? reply_in_place(peer, request) : reply_packed(peer, request);
}

// Sends short replies by value.
Status Server::reply_bytes(Peer* peer, const void* data, std::size_t bytes) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(bytes), 0};
  if (bytes <= peer->sender.link.by_value_max()) {
    ARMCI_RETURN_IF_ERROR(reply(peer, {&piece, bytes > 0 ? 1U : 0U}, bytes > 0, {}));
    return peer->sender.link.submit();  // before the data are gone
  }
  const int buffer = take_buffer();
  std::memcpy(replies_.at(static_cast<std::size_t>(buffer)), data, bytes);
  piece = replies_.piece(static_cast<std::size_t>(buffer), bytes);
  return reply(peer, {&piece, 1}, false, {.buffer = buffer});
}

Status Server::reply_packed(Peer* peer, const Request& request) {
  const int buffer = take_buffer();
  server::collect(request, replies_.at(static_cast<std::size_t>(buffer)));
  const ibv_sge piece = replies_.piece(static_cast<std::size_t>(buffer), request.total_bytes());
  return reply(peer, {&piece, 1}, false, {.buffer = buffer});
}

// The device sends the rows with a gather list, zero copy.
Status Server::reply_in_place(Peer* peer, const Request& request) {
  std::vector<ibv_sge> pieces;
  pieces.reserve(request.segments());
  bool reachable = request.segments() <= peer->sender.link.pieces_max();
  server::for_places(request, [&](char* place) {
    const ibv_mr* const region = region_of(place, request.header.bytes);
    reachable = reachable && region != nullptr;
    if (!reachable) return;
    pieces.push_back(
        {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(request.header.bytes), region->lkey});
  });
  if (!reachable) {
    return fail(Code::kLayerBelow, nullptr,
                "process %u requested %zu rows with zero copy, and one of them is not registered; link all processes "
                "with the same library",
                request.header.origin, request.segments());
  }
  ++in_place_;
  return reply(peer, pieces, false, {.in_place = true});
}

const ibv_mr* Server::region_of(const char* address, std::size_t bytes) const {
  auto found = regions_.upper_bound(address);
  if (found == regions_.begin()) return nullptr;
  --found;
  const auto offset = static_cast<std::size_t>(address - found->first);
  const std::size_t length = found->second->length;
  return offset < length && bytes <= length - offset ? found->second.get() : nullptr;
}

int Server::take_buffer() {
  const int buffer = free_.back();
  free_.pop_back();
  return buffer;
}

Status Server::reply(Peer* peer, std::span<const ibv_sge> pieces, bool by_value, const PendingReply& what) {
  PendingReply* pending = nullptr;
  const bool signaled = what.buffer != kNoBuffer || what.in_place;
  ARMCI_RETURN_IF_ERROR(peer->sender.add({IBV_WR_SEND, pieces, 0, 0, signaled, by_value}, &pending));
  *pending = what;
  signaled_ += peer->sender.is_signaled() ? 1 : 0;
  return kSuccess;
}

}  // namespace armci::verbs
