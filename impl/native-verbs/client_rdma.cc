// Writes and reads of the device's.
#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/native-verbs/client_wire.h"
#include "impl/node/copy.h"

namespace armci::verbs {

using engine::Rows;
using engine::Target;

namespace {

// The aligned words that Soft-RoCE stores at once.
constexpr std::size_t kWordBytes = 8;
// Of one work request: half of what InfiniBand allows.
constexpr std::size_t kWorkBytesMax = std::size_t{1} << 30;
// Up to this length a copy is faster than a search for the memory region.
constexpr std::size_t kCopiedBytes = 512;
// The first of several copies is short, so that the device sends it while the process makes the next one.
constexpr std::size_t kFirstCopies = 4;
// Shorter pieces cost a device more than copying them.
constexpr std::size_t kPieceBytes = 512;

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

std::uint32_t key_of(const Target& target) { return static_cast<const RemoteKey*>(target.key)->remote; }

ibv_sge piece_of(const void* local, std::size_t bytes, std::uint32_t key) {
  return {address_of(local), static_cast<std::uint32_t>(bytes), key};
}

ibv_wr_opcode opcode_of(engine::Rdma::Direction direction) {
  return direction == engine::Rdma::Direction::kRead ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
}

// The length of the first part of a run, at most `at_most`. Ends at a word boundary, so that no element is in two parts
// [LC-3].
std::size_t cut(const void* remote, std::size_t at_most, std::size_t bytes) {
  if (at_most >= bytes) return bytes;
  const std::size_t beyond = (address_of(remote) + at_most) % kWordBytes;
  return at_most > beyond ? at_most - beyond : 0;
}

}  // namespace

// --- what Soft-RoCE would tear

bool ClientWire::reaches(const Target&, const void* remote, std::size_t bytes) {
  return !tears_ || (address_of(remote) | bytes) % kWordBytes == 0;
}

bool ClientWire::reaches(const Target&, const Rows& rows) {
  if (!tears_) return true;
  std::uint64_t bits = rows.bytes();
  rows.visit(0, rows.count(), [&](const char*, const char* remote) { bits |= address_of(remote); });
  return bits % kWordBytes == 0;
}

// --- contiguous

bool ClientWire::can_transfer(int server) {
  return at(server).sender.can_post() && bounces_.free() > 0 && pending_completions_ < completions_max_;
}

// Limits `*bytes` to a part that is registered under one key and ends at a word. False: the caller has to copy.
bool ClientWire::find_registered(const char* remote, const char* local, std::size_t* bytes, MemoryRegion* region) {
  const bool found = *bytes >= bounds_.register_bytes ? registrations_.take(local, *bytes, region)
                                                      : registrations_.find(local, *bytes, region);
  if (!found) return false;
  const std::size_t now = cut(remote, std::min(region->bytes, kWorkBytesMax), *bytes);
  if (now > 0) {
    *bytes = now;
    return true;
  }
  if (region->held != nullptr) registrations_.release(region->held);
  return false;
}

Status ClientWire::transfer(Direction direction, const Target& target, char* remote, char* local, std::size_t* bytes,
                            Operation* operation) {
  if (!broken_.empty()) return give_up();
  const int server = routes_.server_of(target.process);
  const Sender<Sent>& sender = at(server).sender;
  const bool is_write = direction == Direction::kWrite;
  // The local buffer of a blocking put is free sooner if its data are copied.
  const bool is_copied = *bytes <= kCopiedBytes || (is_write && operation->is_blocking && *bytes <= bounces_.bytes());
  Work work{opcode_of(direction), {}, address_of(remote), key_of(target), true, false};
  engine::Buffer bounce;
  ibv_sge piece{};
  MemoryRegion region;
  if (is_write && *bytes <= sender.link.by_value_max()) {
    piece = piece_of(local, *bytes, 0);
    work.signaled = false;
    work.by_value = true;
  } else if (!is_copied && find_registered(remote, local, bytes, &region)) {
    piece = piece_of(local, *bytes, region.key);
  } else {
    const bool is_short = is_write && *bytes > bounces_.bytes() && !sender.any_signaled();
    *bytes = cut(remote, bounces_.bytes() / (is_short ? kFirstCopies : 1), *bytes);
    bounce = bounces_.take();
    piece = bounces_.piece(bounce, *bytes);
    if (is_write) node::copy(bounce.get(), local, *bytes);
  }
  work.pieces = {&piece, 1};
  Sent* sent = nullptr;
  ARMCI_RETURN_IF_ERROR(add(server, work, &sent));
  const bool is_over = is_write && (work.by_value || bounce != nullptr);  // for the local buffer
  if (!is_write && bounce != nullptr) {
    sent->unpack = [local, now = *bytes](const char* data) { node::copy(local, data, now); };
  }
  sent->bounce = std::move(bounce);
  if (region.held != nullptr) sent->registrations.push_back(region.held);
  if (!is_over) sent->operation = operation;
  ARMCI_RETURN_IF_ERROR(submit(server));
  if (is_over) operation->owner->end_part(operation, 0);
  return kSuccess;
}

// --- rows

Status ClientWire::transfer_rows(Direction direction, const Target& target, const Rows& rows, std::size_t first,
                                 std::size_t* count, Operation* operation) {
  if (!broken_.empty()) return give_up();
  const auto move = rows.remote_is_dense() ? &ClientWire::move_dense : &ClientWire::move_each;
  return (this->*move)(direction, target, rows, first, count, operation);
}

// False: not all rows are registered, or a copy is faster.
bool ClientWire::find_pieces(Lookup* lookup, const Rows& rows, std::size_t first, std::size_t count, Pieces* pieces) {
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

// Dense local rows are one piece, so that they are registered at once.
static std::size_t piece_bytes(const Rows& rows) {
  return rows.local_is_dense() ? rows.count() * rows.bytes() : rows.bytes();
}

// Rows that are dense at the target: as many as the gather or scatter list of one work request, or one buffer, holds.
Status ClientWire::move_dense(Direction direction, const Target& target, const Rows& rows, std::size_t first,
                              std::size_t* count, Operation* operation) {
  const int server = routes_.server_of(target.process);
  const Link& link = at(server).sender.link;
  const bool is_write = direction == Direction::kWrite;
  Lookup lookup(&registrations_, piece_bytes(rows), bounds_.register_bytes);
  Work work{opcode_of(direction), {}, 0, key_of(target), true, false};
  rows.visit(first, 1, [&](const char*, const char* remote) { work.remote = address_of(remote); });
  const std::size_t listed = std::min(is_write ? link.pieces_max() : link.pieces_read_max(), *count);
  Pieces pieces;
  Sent* sent = nullptr;
  if (find_pieces(&lookup, rows, first, listed, &pieces)) {
    work.signaled = listed == *count;
    work.pieces = pieces.iov;
    *count = listed;
    ARMCI_RETURN_IF_ERROR(add(server, work, &sent));
    sent->registrations = std::move(pieces.held);
    sent->operation = operation;
    return submit(server);
  }
  *count = std::min(bounces_.bytes() / rows.bytes(), *count);
  engine::Buffer bounce = bounces_.take();
  const ibv_sge piece = bounces_.piece(bounce, *count * rows.bytes());
  work.pieces = {&piece, 1};
  if (is_write) rows.pack(first, *count, bounce.get());
  ARMCI_RETURN_IF_ERROR(add(server, work, &sent));
  sent->bounce = std::move(bounce);
  if (!is_write) {
    sent->unpack = rows.unpacker(first, *count);
    sent->operation = operation;
    return submit(server);
  }
  ARMCI_RETURN_IF_ERROR(submit(server));
  operation->owner->end_part(operation, 0);
  return kSuccess;
}

// One work request for each row, as many as one call of the device posts.
Status ClientWire::move_each(Direction direction, const Target& target, const Rows& rows, std::size_t first,
                             std::size_t* count, Operation* operation) {
  const int server = routes_.server_of(target.process);
  const Sender<Sent>& sender = at(server).sender;
  const bool is_write = direction == Direction::kWrite;
  const std::size_t bytes = rows.bytes();
  const bool by_value = is_write && bytes <= sender.link.by_value_max();
  Lookup lookup(&registrations_, piece_bytes(rows), bounds_.register_bytes);
  *count = std::min({*count, Link::kBatch, sender.room(), bounces_.free(), completions_max_ - pending_completions_});
  std::size_t left = *count;
  bool is_over = is_write;  // for the local rows
  Status status;
  rows.visit(first, *count, [&](char* local, char* remote) {
    const bool is_last = --left == 0;
    if (!status.ok()) return;
    engine::Buffer bounce;
    MemoryRegion region;
    ibv_sge piece = piece_of(local, bytes, 0);
    bool is_found = bytes > kCopiedBytes && lookup.find(local, bytes, &region);
    if (is_found && region.bytes < bytes) {
      if (region.held != nullptr) registrations_.release(std::exchange(region.held, nullptr));
      is_found = false;
    }
    if (is_found) {
      piece.lkey = region.key;
      is_over = false;
    } else if (!by_value) {
      bounce = bounces_.take();
      piece = bounces_.piece(bounce, bytes);
      if (is_write) node::copy(bounce.get(), local, bytes);
    }
    Sent* sent = nullptr;
    status = add(server,
                 {opcode_of(direction),
                  {&piece, 1},
                  address_of(remote),
                  key_of(target),
                  (is_last && !is_over) || bounce != nullptr,
                  by_value},
                 &sent);
    if (!status.ok()) return;
    if (!is_write && bounce != nullptr) {
      sent->unpack = [local, bytes](const char* data) { node::copy(local, data, bytes); };
    }
    sent->bounce = std::move(bounce);
    if (region.held != nullptr) sent->registrations.push_back(region.held);
    if (is_last && !is_over) sent->operation = operation;
  });
  ARMCI_RETURN_IF_ERROR(status);
  ARMCI_RETURN_IF_ERROR(submit(server));
  if (is_over) operation->owner->end_part(operation, 0);
  return kSuccess;
}

// --- words of signals, and flush

// The write takes a receive buffer of the server. While none is free, this device retries. The completion spares a
// later fence an empty write. An aligned word is not torn [LC-3].
Status ClientWire::set_word(const Target& target, std::uint64_t* word, std::uint64_t value) {
  if (!broken_.empty()) return give_up();
  const int server = routes_.server_of(target.process);
  Work work{IBV_WR_RDMA_WRITE_WITH_IMM, {}, address_of(word), key_of(target), /*signaled=*/true};
  work.immediate = static_cast<std::uint32_t>(target.process);
  work.by_value = sizeof value <= at(server).sender.link.by_value_max();
  engine::Buffer bounce;
  ibv_sge piece = piece_of(&value, sizeof value, 0);
  if (!work.by_value) {
    bounce = bounces_.take();
    std::memcpy(bounce.get(), &value, sizeof value);
    piece = bounces_.piece(bounce, sizeof value);
  }
  work.pieces = {&piece, 1};
  Sent* sent = nullptr;
  ARMCI_RETURN_IF_ERROR(add(server, work, &sent));
  sent->bounce = std::move(bounce);
  return submit(server);
}

Status ClientWire::flush(int server, Operation* operation) {
  if (!broken_.empty()) return give_up();
  at(server).flush = operation;
  at(server).flush_to = at(server).stored;
  return drive_flush(server);
}

}  // namespace armci::verbs
