// Puts and gets by RDMA.
#include <algorithm>
#include <cstring>

#include "impl/native-verbs/client.h"
#include "impl/node/copy.h"

namespace armci::verbs {

namespace {

// The aligned words that Soft-RoCE stores at once.
constexpr std::size_t kWordBytes = 8;
// The shortest elements that must not be torn.
constexpr std::size_t kElementBytes = 4;
// Of one work request: half of what InfiniBand allows.
constexpr std::size_t kWorkBytesMax = std::size_t{1} << 30;
// Up to this length a copy is faster than a search for the memory region.
constexpr std::size_t kCopiedBytes = 512;
// The first of several copies is short, so that the device sends it while the process makes the next one.
constexpr std::size_t kFirstCopies = 4;
// Shorter pieces cost a device more than copying them.
constexpr std::size_t kPieceBytes = 512;

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

ibv_sge piece_of(const void* local, std::size_t bytes, std::uint32_t key) {
  return {address_of(local), static_cast<std::uint32_t>(bytes), key};
}

}  // namespace

// --- what Soft-RoCE would tear

// The next part that is stored alike: the bytes before a word, whole words, or the bytes after them.
std::size_t Client::aligned_run(const void* remote, std::size_t bytes) const {
  if (!tears_) return bytes;
  const std::size_t inside = address_of(remote) % kWordBytes;
  if (inside != 0) return std::min(bytes, kWordBytes - inside);
  return bytes < kWordBytes ? bytes : bytes / kWordBytes * kWordBytes;
}

// The length of the first part of a run, at most `at_most`. Ends at a word boundary, so that no element is in two parts
// [LC-3].
std::size_t Client::cut(const void* remote, std::size_t at_most, std::size_t bytes) {
  if (at_most >= bytes) return bytes;
  const std::size_t beyond = (address_of(remote) + at_most) % kWordBytes;
  return at_most > beyond ? at_most - beyond : 0;
}

// Whether the bytes are a part of a word that holds a short element.
bool Client::needs_server(const void* remote, std::size_t bytes) const {
  const std::size_t inside = address_of(remote) % kElementBytes;
  const std::size_t before = (kElementBytes - inside) % kElementBytes;
  return tears_ && bytes < kWordBytes && bytes >= before + kElementBytes;
}

// Whether any row has such an end.
bool Client::needs_server(const Rows& rows) const {
  if (!tears_) return false;
  std::uint64_t bits = rows.bytes();
  rows.visit(0, rows.count(), [&](const char*, const char* remote) { bits |= address_of(remote); });
  return bits % kWordBytes != 0;
}

// --- contiguous

Status Client::put(const Target& target, void* remote, const void* local, std::size_t bytes, CompletionPoint* point) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  if (point == nullptr) ARMCI_RETURN_IF_ERROR(connections_.await_executed(lock, target.node));
  Transfer transfer{target,
                    {&registrations_, bytes, thresholds_.register_bytes},
                    point != nullptr || bytes > connections_.bounce_bytes()};
  ARMCI_RETURN_IF_ERROR(
      put_run(lock, &transfer, static_cast<char*>(remote), static_cast<const char*>(local), bytes, true));
  return finish(lock, transfer, /*is_get=*/false, point);
}

Status Client::get(const Target& target, const void* remote, void* local, std::size_t bytes, CompletionPoint* point) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  ARMCI_RETURN_IF_ERROR(connections_.await_executed(lock, target.node));
  Transfer transfer{target, {&registrations_, bytes, thresholds_.register_bytes}, true};
  ARMCI_RETURN_IF_ERROR(
      get_run(lock, &transfer, static_cast<const char*>(remote), static_cast<char*>(local), bytes, true));
  return finish(lock, transfer, /*is_get=*/true, point);
}

// The data of requests are complete when their replies are here.
Status Client::finish(Lock& lock, const Transfer& transfer, bool is_get, CompletionPoint* point) {
  const int node = transfer.target.node;
  ARMCI_RETURN_IF_ERROR(connections_.submit(node));
  CompletionPoint end;
  if (transfer.has_rdma) {
    ARMCI_RETURN_IF_ERROR(connections_.completion_point(lock, node, &end));
  } else if (is_get) {
    end = connections_.request_point(node);
  }
  if (point == nullptr) return connections_.wait(lock, end);
  *point = end;
  return kSuccess;
}

Status Client::put_run(Lock& lock, Transfer* transfer, char* remote, const char* local, std::size_t bytes, bool last) {
  const Target& target = transfer->target;
  const std::size_t whole = bytes;
  while (bytes > 0) {
    std::size_t now = aligned_run(remote, bytes);
    MemoryRegion region;
    if (needs_server(remote, now)) {
      ARMCI_RETURN_IF_ERROR(store_run(lock, target.node, server::put_header(), remote, local, now));
    } else if (now <= connections_.link(target.node).by_value_max()) {
      const ibv_sge piece = piece_of(local, now, 0);
      const Work work{IBV_WR_RDMA_WRITE, {&piece, 1}, address_of(remote), target.key, false, true};
      ARMCI_RETURN_IF_ERROR(connections_.post(lock, target.node, work, {}));
    } else if (transfer->may_zero_copy && now > kCopiedBytes &&
               find_registered(transfer, remote, local, &now, &region)) {
      const ibv_sge piece = piece_of(local, now, region.key);
      const Work work{IBV_WR_RDMA_WRITE, {&piece, 1}, address_of(remote), target.key, last && now == bytes, false};
      ARMCI_RETURN_IF_ERROR(post_zero_copy(lock, transfer, work, region));
      if (now < bytes) ARMCI_RETURN_IF_ERROR(connections_.submit(target.node));
    } else {
      const bool first = bytes == whole && now > connections_.bounce_bytes();
      now = cut(remote, connections_.bounce_bytes() / (first ? kFirstCopies : 1), now);
      ARMCI_RETURN_IF_ERROR(write_copy(lock, target, remote, local, now));
      if (now < bytes) ARMCI_RETURN_IF_ERROR(connections_.submit(target.node));
    }
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

// Limits `*bytes` to a part that is registered under one key and ends at a word. False: the caller has to copy.
bool Client::find_registered(Transfer* transfer, const void* remote, const char* local, std::size_t* bytes,
                             MemoryRegion* region) {
  if (!transfer->lookup.find(local, *bytes, region)) return false;
  const std::size_t now = cut(remote, std::min(region->bytes, kWorkBytesMax), *bytes);
  if (now > 0) {
    *bytes = now;
    return true;
  }
  if (region->held != nullptr) registrations_.release(region->held);
  return false;
}

Status Client::post_zero_copy(Lock& lock, Transfer* transfer, const Work& work, const MemoryRegion& region) {
  Registration* const held = region.held;
  transfer->has_rdma = true;
  return connections_.post(lock, transfer->target.node, work,
                           {ConnectionManager::kNoBounce, {&held, held != nullptr ? 1U : 0U}});
}

Status Client::write_copy(Lock& lock, const Target& target, char* remote, const char* local, std::size_t bytes) {
  int bounce = ConnectionManager::kNoBounce;
  ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, target.node, {&bounce, 1}));
  node::copy(connections_.bounce(bounce), local, bytes);
  const ibv_sge piece = connections_.bounce_piece(bounce, bytes);
  const Work work{IBV_WR_RDMA_WRITE, {&piece, 1}, address_of(remote), target.key, true, false};
  return connections_.post(lock, target.node, work, {bounce, {}});
}

Status Client::get_run(Lock& lock, Transfer* transfer, const char* remote, char* local, std::size_t bytes, bool last) {
  const Target& target = transfer->target;
  while (bytes > 0) {
    std::size_t now = aligned_run(remote, bytes);
    MemoryRegion region;
    if (needs_server(remote, now)) {
      ARMCI_RETURN_IF_ERROR(fetch_word(lock, target.node, remote, local, now));
    } else if (now > kCopiedBytes && find_registered(transfer, remote, local, &now, &region)) {
      const ibv_sge piece = piece_of(local, now, region.key);
      const Work work{IBV_WR_RDMA_READ, {&piece, 1}, address_of(remote), target.key, last && now == bytes, false};
      ARMCI_RETURN_IF_ERROR(post_zero_copy(lock, transfer, work, region));
      if (now < bytes) ARMCI_RETURN_IF_ERROR(connections_.submit(target.node));
    } else {
      now = cut(remote, connections_.bounce_bytes(), now);
      ARMCI_RETURN_IF_ERROR(read_copy(lock, target, remote, local, now));
      transfer->has_rdma = true;
      if (now < bytes) ARMCI_RETURN_IF_ERROR(connections_.submit(target.node));
    }
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

Status Client::read_copy(Lock& lock, const Target& target, const char* remote, char* local, std::size_t bytes) {
  int bounce = ConnectionManager::kNoBounce;
  ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, target.node, {&bounce, 1}));
  const ibv_sge piece = connections_.bounce_piece(bounce, bytes);
  const Work work{IBV_WR_RDMA_READ, {&piece, 1}, address_of(remote), target.key, true, false};
  ScatterList* scatter_list = nullptr;
  ARMCI_RETURN_IF_ERROR(connections_.post(lock, target.node, work, {bounce, {}}, &scatter_list));
  scatter_list->set(connections_.bounce(bounce), local, bytes);
  return kSuccess;
}

// --- rows

// Dense local rows are one piece, so that they are registered at once.
std::size_t Client::piece_bytes(const Rows& rows) {
  return rows.local_is_dense() ? rows.count() * rows.bytes() : rows.bytes();
}

Client::Way Client::way_of(const Rows& rows) {
  const bool whole_words = !needs_server(rows);
  if (whole_words && rows.remote_is_dense() && rows.bytes() <= connections_.bounce_bytes()) return Way::kDense;
  if (rows.bytes() >= thresholds_.pack_bytes) return Way::kLong;
  return Way::kServer;
}

Status Client::put_rows(const Target& target, const Rows& rows, CompletionPoint* point) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  Transfer transfer{target, {&registrations_, piece_bytes(rows), thresholds_.register_bytes}, true};
  const Way way = way_of(rows);
  if (way == Way::kServer) {
    ARMCI_RETURN_IF_ERROR(store_rows(lock, target.node, server::put_header(), rows));
  } else {
    if (point == nullptr) ARMCI_RETURN_IF_ERROR(connections_.await_executed(lock, target.node));
    const auto move = way == Way::kDense ? &Client::move_dense : &Client::move_long;
    ARMCI_RETURN_IF_ERROR((this->*move)(lock, &transfer, rows, IBV_WR_RDMA_WRITE));
  }
  return finish(lock, transfer, /*is_get=*/false, point);
}

Status Client::get_rows(const Target& target, const Rows& rows, CompletionPoint* point) {
  Lock lock = connections_.lock();
  ARMCI_RETURN_IF_ERROR(connections_.reach(lock, target.node));
  Transfer transfer{target, {&registrations_, piece_bytes(rows), thresholds_.register_bytes}, true};
  const Way way = way_of(rows);
  if (way != Way::kServer) {
    ARMCI_RETURN_IF_ERROR(connections_.await_executed(lock, target.node));
    const auto move = way == Way::kDense ? &Client::move_dense : &Client::move_long;
    ARMCI_RETURN_IF_ERROR((this->*move)(lock, &transfer, rows, IBV_WR_RDMA_READ));
  } else if (rows.bytes() >= thresholds_.in_place_bytes && !needs_server(rows)) {
    ARMCI_RETURN_IF_ERROR(fetch_in_place(lock, &transfer.lookup, target.node, rows));
  } else {
    ARMCI_RETURN_IF_ERROR(fetch_rows(lock, target.node, rows));
  }
  return finish(lock, transfer, /*is_get=*/true, point);
}

// One by one; the last work request is signaled.
Status Client::move_long(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode) {
  Status status;
  std::size_t left = rows.count();
  rows.visit(0, rows.count(), [&](char* local, char* remote) {
    const bool last = --left == 0;
    if (!status.ok()) return;
    status = opcode == IBV_WR_RDMA_READ ? get_run(lock, transfer, remote, local, rows.bytes(), last)
                                        : put_run(lock, transfer, remote, local, rows.bytes(), last);
  });
  return status;
}

// False: not all rows are registered, or a copy is faster.
bool Client::find_pieces(Lookup* lookup, const Rows& rows, std::size_t first, std::size_t count, Pieces* pieces) {
  *pieces = {};
  if (rows.bytes() < kPieceBytes) return false;
  bool all = true;
  rows.visit(first, count, [&](const char* local, const char*) {
    MemoryRegion region;
    all = all && lookup->find(local, rows.bytes(), &region);
    if (!all) return;
    if (region.held != nullptr) pieces->held.push_back(region.held);
    all = region.bytes == rows.bytes();
    pieces->iov.push_back(piece_of(local, rows.bytes(), region.key));
  });
  if (all) return true;
  for (Registration* const one : pieces->held) registrations_.release(one);
  return false;
}

// Rows that are dense at the target: as many as the gather or scatter list of one work request, or one buffer, holds.
Status Client::move_dense(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode) {
  const Target& target = transfer->target;
  const Link& link = connections_.link(target.node);
  const std::size_t pieces_max = opcode == IBV_WR_RDMA_READ ? link.pieces_read_max() : link.pieces_max();
  const std::size_t in_bounce = connections_.bounce_bytes() / rows.bytes();
  for (std::size_t first = 0; first < rows.count();) {
    const char* remote = nullptr;
    rows.visit(first, 1, [&](const char*, const char* place) { remote = place; });
    std::size_t now = std::min(pieces_max, rows.count() - first);
    Pieces pieces;
    if (find_pieces(&transfer->lookup, rows, first, now, &pieces)) {
      const bool last = first + now == rows.count();
      const Work work{opcode, pieces.iov, address_of(remote), target.key, last, false};
      ARMCI_RETURN_IF_ERROR(connections_.post(lock, target.node, work, {ConnectionManager::kNoBounce, pieces.held}));
      transfer->has_rdma = true;
    } else {
      now = std::min(in_bounce, rows.count() - first);
      ARMCI_RETURN_IF_ERROR(move_copies(lock, transfer, rows, opcode, first, now, remote));
    }
    ARMCI_RETURN_IF_ERROR(connections_.submit(target.node));
    first += now;
  }
  return kSuccess;
}

// Moves some rows through a buffer.
Status Client::move_copies(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode, std::size_t first,
                           std::size_t count, const char* remote) {
  const Target& target = transfer->target;
  int bounce = ConnectionManager::kNoBounce;
  ARMCI_RETURN_IF_ERROR(connections_.take_bounces(lock, target.node, {&bounce, 1}));
  char* const buffer = connections_.bounce(bounce);
  const ibv_sge piece = connections_.bounce_piece(bounce, count * rows.bytes());
  const Work work{opcode, {&piece, 1}, address_of(remote), target.key, true, false};
  if (opcode == IBV_WR_RDMA_WRITE) {
    char* to = buffer;
    rows.visit(first, count, [&](const char* local, const char*) {
      node::copy(to, local, rows.bytes());
      to += rows.bytes();
    });
    return connections_.post(lock, target.node, work, {bounce, {}});
  }
  ScatterList* scatter_list = nullptr;
  ARMCI_RETURN_IF_ERROR(connections_.post(lock, target.node, work, {bounce, {}}, &scatter_list));
  scatter_list->set(buffer, nullptr, rows.bytes());
  rows.visit(first, count, [&](char* local, const char*) { scatter_list->rows.push_back(local); });
  transfer->has_rdma = true;
  return kSuccess;
}

}  // namespace armci::verbs
