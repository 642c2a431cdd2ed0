// Requests to servers: accumulates, atomics, and transfers of short rows.
#include <algorithm>
#include <array>
#include <cstring>

#include "impl/native-verbs/client.h"
#include "impl/node/copy.h"
#include "impl/server/compose.h"

namespace armci::verbs {
using server::Form;
using server::RequestHeader;

namespace {

// Requests up to that length need no buffer where the device sends them by value.
constexpr std::size_t kShortBytes = 256;

}  // namespace

Client::Client(const Device& device, int process, Registrations* registrations, ConnectionManager* connections,
               const Thresholds& thresholds)
    : tears_(device.is_software()),
      process_(static_cast<std::uint32_t>(process)),
      registrations_(*registrations),
      connections_(*connections),
      thresholds_(thresholds) {}

// Sends a message that is on the stack. The memory is free at return.
Status Client::request_by_value(Lock& lock, int node, std::span<const char> message, bool is_store,
                                const ConnectionManager::ReplyBuffers& reply, ScatterList** scatter_list) {
  const auto bytes = static_cast<std::uint32_t>(message.size());
  ConnectionManager::Request request{
      {reinterpret_cast<std::uintptr_t>(message.data()), bytes, 0}, true, ConnectionManager::kNoBounce, is_store};
  if (bytes > connections_.link(node).by_value_max()) {
    int bounce = ConnectionManager::kNoBounce;
    ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, node, {&bounce, 1}));
    std::memcpy(connections_.bounce(bounce), message.data(), bytes);
    request = {connections_.bounce_piece(bounce, bytes), false, bounce, is_store};
  }
  ARMCI_RETURN_IF_ERROR(connections_.post_request(lock, node, request, reply, scatter_list));
  return connections_.submit(node);
}

Status Client::atomic(int node, RequestHeader header, std::uint64_t* before) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, node));
  header.tag = server::kFirstTag;
  header.origin = process_;
  ConnectionManager::ReplyBuffers reply;
  reply.slot_bytes = sizeof *before;
  ScatterList* scatter_list = nullptr;
  ARMCI_RETURN_IF_ERROR(request_by_value(lock, node, {reinterpret_cast<const char*>(&header), sizeof header}, true,
                                         reply, &scatter_list));
  scatter_list->set(scatter_list->from, reinterpret_cast<char*>(before), sizeof *before);
  return connections_.await_executed(lock, node);
}

// --- stores

Status Client::add(const Target& target, RequestHeader header, void* remote, const void* local, std::size_t bytes) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  return store_run(lock, target.node, header, static_cast<char*>(remote), static_cast<const char*>(local), bytes);
}

Status Client::add_rows(const Target& target, RequestHeader header, const Rows& rows) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  return store_rows(lock, target.node, header, rows);
}

// The device delivers a request behind the writes that were posted before it.
Status Client::put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                          const node::Signal& signal) {
  std::array<char, kShortBytes> message;
  RequestHeader header = server::signal_header(signal);
  if (bytes > message.size() - sizeof header) {
    ARMCI_RETURN_IF_ERROR(put(target, remote, local, bytes, nullptr));
    bytes = 0;
  }
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  header.origin = process_;
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = bytes;
  char* const data = server::compose(header, {}, message.data());
  if (bytes > 0) std::memcpy(data, local, bytes);
  return request_by_value(lock, target.node, {message.data(), sizeof header + bytes}, true, {}, nullptr);
}

// Without gaps, in pieces.
Status Client::store_run(Lock& lock, int node, RequestHeader header, char* remote, const char* local,
                         std::size_t bytes) {
  const std::size_t bytes_max =
      (connections_.bounce_bytes() - sizeof header) / server::kElementBytesMax * server::kElementBytesMax;
  header.form = Form::kContiguous;
  header.origin = process_;
  while (bytes > 0) {
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = std::min(bytes, bytes_max);
    const std::size_t length = sizeof header + header.bytes;
    if (length <= kShortBytes) {
      std::array<char, kShortBytes> message;
      std::memcpy(server::compose(header, {}, message.data()), local, header.bytes);
      ARMCI_RETURN_IF_ERROR(request_by_value(lock, node, {message.data(), length}, true, {}, nullptr));
    } else {
      int bounce = ConnectionManager::kNoBounce;
      ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, node, {&bounce, 1}));
      node::copy(server::compose(header, {}, connections_.bounce(bounce)), local, header.bytes);
      ARMCI_RETURN_IF_ERROR(connections_.post_request(
          lock, node, {connections_.bounce_piece(bounce, length), false, bounce, true}, {}, nullptr));
      ARMCI_RETURN_IF_ERROR(connections_.submit(node));
    }
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// Packs into each request as many rows as fit.
Status Client::store_rows(Lock& lock, int node, RequestHeader header, const Rows& rows) {
  const std::size_t fitting = rows.fitting(connections_.bounce_bytes() - sizeof header, rows.bytes());
  if (fitting == 0) return store_long_rows(lock, node, header, rows);
  header.origin = process_;
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    int bounce = ConnectionManager::kNoBounce;
    ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, node, {&bounce, 1}));
    char* const message = connections_.bounce(bounce);
    char* data = rows.describe(first, now, header, message);
    rows.visit(first, now, [&](const char* local, const char*) {
      node::copy(data, local, rows.bytes());
      data += rows.bytes();
    });
    const auto length = static_cast<std::size_t>(data - message);
    ARMCI_RETURN_IF_ERROR(connections_.post_request(
        lock, node, {connections_.bounce_piece(bounce, length), false, bounce, true}, {}, nullptr));
    ARMCI_RETURN_IF_ERROR(connections_.submit(node));
    first += now;
  }
  return kSuccess;
}

Status Client::store_long_rows(Lock& lock, int node, const RequestHeader& header, const Rows& rows) {
  Status status;
  rows.visit(0, rows.count(), [&](const char* local, char* remote) {
    if (status.ok()) status = store_run(lock, node, header, remote, local, rows.bytes());
  });
  return status;
}

// --- gets

RequestHeader Client::get_header() const {
  RequestHeader header;
  header.kind = server::RequestKind::kGet;
  header.tag = server::kFirstTag;
  header.origin = process_;
  return header;
}

// Gets at most one word.
Status Client::fetch_word(Lock& lock, int node, const void* remote, void* local, std::size_t bytes) {
  RequestHeader header = get_header();
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = bytes;
  ConnectionManager::ReplyBuffers reply;
  reply.slot_bytes = bytes;
  ScatterList* scatter_list = nullptr;
  ARMCI_RETURN_IF_ERROR(request_by_value(lock, node, {reinterpret_cast<const char*>(&header), sizeof header}, false,
                                         reply, &scatter_list));
  scatter_list->set(scatter_list->from, static_cast<char*>(local), bytes);
  return kSuccess;
}

// Requests some of the rows. A short request is sent by value, a longer one from `bounce`.
Status Client::request_rows(Lock& lock, int node, const RequestHeader& header, const Rows& rows, const Part& part,
                            const ConnectionManager::ReplyBuffers& reply, ScatterList** scatter_list) {
  const std::size_t length = sizeof header + rows.place_bytes(part.count);
  if (part.bounce == ConnectionManager::kNoBounce) {
    std::array<char, kShortBytes> message;
    rows.describe(part.first, part.count, header, message.data());
    return request_by_value(lock, node, {message.data(), length}, false, reply, scatter_list);
  }
  rows.describe(part.first, part.count, header, connections_.bounce(part.bounce));
  return connections_.post_request(
      lock, node, {connections_.bounce_piece(part.bounce, length), false, part.bounce, false}, reply, scatter_list);
}

bool Client::is_short_request(int node, const Rows& rows, std::size_t count) const {
  const std::size_t length = sizeof(RequestHeader) + rows.place_bytes(count);
  return length <= std::min(kShortBytes, connections_.link(node).by_value_max());
}

// The server packs the rows: in each reply as many as fit.
Status Client::fetch_rows(Lock& lock, int node, const Rows& rows) {
  const std::size_t in_reply = connections_.bounce_bytes() / rows.bytes();
  const std::size_t in_request = rows.fitting(connections_.bounce_bytes() - sizeof(RequestHeader), 0);
  const std::size_t fitting = std::min(in_reply, in_request);
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    std::array<int, 2> bounces = {ConnectionManager::kNoBounce, ConnectionManager::kNoBounce};
    const std::size_t needed = is_short_request(node, rows, now) ? 1 : 2;
    ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, node, {bounces.data(), needed}));
    ibv_sge place = connections_.bounce_piece(bounces[0], now * rows.bytes());
    ScatterList* scatter_list = nullptr;
    ARMCI_RETURN_IF_ERROR(request_rows(lock, node, get_header(), rows, {first, now, bounces[1]},
                                       {{&place, 1}, {bounces[0], {}}, 0}, &scatter_list));
    scatter_list->set(scatter_list->from, nullptr, rows.bytes());
    rows.visit(first, now, [&](char* local, const char*) { scatter_list->rows.push_back(local); });
    ARMCI_RETURN_IF_ERROR(connections_.submit(node));
    first += now;
  }
  return kSuccess;
}

// The server sends the rows with zero copy. If the local rows are not registered, the server packs them.
Status Client::fetch_in_place(Lock& lock, Lookup* lookup, int node, const Rows& rows) {
  RequestHeader header = get_header();
  header.type = server::kDataAlone;
  const std::size_t pieces_max = connections_.link(node).common_pieces_max();
  Pieces pieces;
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(pieces_max, rows.count() - first);
    if (!find_pieces(lookup, rows, first, now, &pieces)) return fetch_rows(lock, node, rows);
    int bounce = ConnectionManager::kNoBounce;
    if (!is_short_request(node, rows, now)) ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, node, {&bounce, 1}));
    ARMCI_RETURN_IF_ERROR(request_rows(lock, node, header, rows, {first, now, bounce},
                                       {pieces.iov, {ConnectionManager::kNoBounce, pieces.held}, 0}, nullptr));
    ARMCI_RETURN_IF_ERROR(connections_.submit(node));
    first += now;
  }
  return kSuccess;
}

Status Client::test(const CompletionPoint& point, bool* done) {
  Lock lock = connections_.lock();
  return connections_.test(point, done);
}

Status Client::flush(int node) {
  Lock lock = connections_.lock();
  return connections_.flush(lock, node);
}

Status Client::flush_all() {
  Lock lock = connections_.lock();
  return connections_.flush_all(lock);
}

}  // namespace armci::verbs
