// Requests: executed, and answered.
#include <atomic>
#include <cstring>

#include "impl/native-verbs/server.h"
#include "impl/server/execute.h"

namespace armci::verbs {
using server::Request;
using server::RequestKind;

namespace {

// An answer in place is as long as its rows are: what bounds it is their number.
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
    return fail(Code::kLayerBelow, nullptr, "a request of process %d says that it is of process %u", arrival.process,
                request->header.origin);
  }
  const bool is_get = request->header.kind == RequestKind::kGet;
  const bool packed = is_get && !request->data_alone();
  if (request->header.kind == RequestKind::kDisconnect || request->data_follow() ||
      (packed && request->total_bytes() > answers_.bytes())) {
    return fail(Code::kLayerBelow, nullptr, "process %d asks for what servers do not do", arrival.process);
  }
  return kSuccess;
}

// Memory ordering: what was stored is visible to all processes of the node before the answer is to anyone [FENCE-1].
Status Server::execute(const Arrival& arrival, Peer* peer) {
  Request request;
  ARMCI_RETURN_IF_ERROR(decode(arrival, &request));
  if (request.header.kind == RequestKind::kAtomic) {
    const std::uint64_t before = server::execute_atomic(request.header);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return answer_bytes(peer, &before, sizeof before);
  }
  if (request.is_store()) {
    server::store(request, request.data.data());
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return answer_bytes(peer, nullptr, 0);
  }
  return request.data_alone() ? answer_in_place(peer, request) : answer_packed(peer, request);
}

// Short ones by value.
Status Server::answer_bytes(Peer* peer, const void* data, std::size_t bytes) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(bytes), 0};
  if (bytes <= peer->sender.link.by_value_max()) {
    ARMCI_RETURN_IF_ERROR(answer(peer, {&piece, bytes > 0 ? 1U : 0U}, bytes > 0, {}));
    return peer->sender.link.submit();  // before the data are gone
  }
  const int buffer = take_buffer();
  std::memcpy(answers_.at(static_cast<std::size_t>(buffer)), data, bytes);
  piece = answers_.piece(static_cast<std::size_t>(buffer), bytes);
  return answer(peer, {&piece, 1}, false, {.buffer = buffer});
}

Status Server::answer_packed(Peer* peer, const Request& request) {
  const int buffer = take_buffer();
  server::collect(request, answers_.at(static_cast<std::size_t>(buffer)));
  const ibv_sge piece = answers_.piece(static_cast<std::size_t>(buffer), request.total_bytes());
  return answer(peer, {&piece, 1}, false, {.buffer = buffer});
}

// The device gathers what was asked for from where it lies.
Status Server::answer_in_place(Peer* peer, const Request& request) {
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
    return fail(Code::kLayerBelow, nullptr, "process %u asks for %zu rows in place, of which one is not registered",
                request.header.origin, request.segments());
  }
  ++in_place_;
  return answer(peer, pieces, false, {.in_place = true});
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

Status Server::answer(Peer* peer, std::span<const ibv_sge> pieces, bool by_value, const Answering& what) {
  Answering* pending = nullptr;
  const bool signaled = what.buffer != kNoBuffer || what.in_place;
  ARMCI_RETURN_IF_ERROR(peer->sender.add({IBV_WR_SEND, pieces, 0, 0, signaled, by_value}, &pending));
  *pending = what;
  signaled_ += peer->sender.is_signaled() ? 1 : 0;
  return kSuccess;
}

}  // namespace armci::verbs
