// Puts and gets by UCX, and the choice between a transfer and a request.
#include <algorithm>
#include <cstring>

#include "impl/server/compose.h"
#include "impl/ucx/client.h"
#include "impl/ucx/failure.h"
#include "impl/ucx/used_transports.h"

namespace armci::ucx {
using server::Rows;

namespace {

// A piece fits into one message of every transport. Where UCX copies, it copies by whole words.
constexpr std::size_t kPieceBytes = 1024;
constexpr std::size_t kWordBytes = 8;
// Up to that length a put follows requests as a request, instead of waiting for them.
constexpr std::size_t kFollowBytes = 4096;

std::size_t piece_bytes(bool has_device, const void* remote, std::size_t bytes) {
  if (has_device) return bytes;
  return std::min(bytes, kPieceBytes - reinterpret_cast<std::uintptr_t>(remote) % kWordBytes);
}

}  // namespace

bool Client::has_device(const Target& target) {
  Peer& of = peer(target.process);
  const auto learned = of.learned.find(target.key.number);
  const bool has_none = learned == of.learned.end() ? has_no_device(target.key.bytes, target.key.length)
                                                    : has_no_device(learned->second.data(), learned->second.size());
  if (has_none) return false;
  if (!of.has_rdma) {
    std::string description;
    // An endpoint that fails here fails in the transfer as well.
    if (!print_endpoint(target.process, &description).ok()) return false;
    of.has_rdma = has_rdma(transports_of(description));
    of.keeps_order = is_soft_roce(device_of_one_lane(description));
  }
  return *of.has_rdma;
}

// A device promises nothing about parts of words: Soft-RoCE moves them byte by byte, and an element of 4 bytes at the
// end of a store would be seen in halves [LC-3].
bool Client::cuts_words(const Target& target, const void* remote, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(remote) | bytes) % kWordBytes != 0 && has_device(target);
}

bool Client::cuts_words(const Target& target, const Rows& rows) {
  std::uintptr_t bits = rows.bytes();
  rows.visit(0, rows.count(),
             [&](const char*, const char* remote) { bits |= reinterpret_cast<std::uintptr_t>(remote); });
  return bits % kWordBytes != 0 && has_device(target);
}

bool Client::by_request(const Target& target) {
  if (ways_.put_get == Ways::PutGet::kNever) return true;
  if (target.key.length == 0 && !peer(target.process).learned.contains(target.key.number)) return true;
  return ways_.put_get == Ways::PutGet::kAuto && !has_device(target);
}

// Rows that are too long to be packed and have no other way go as runs, request by request.
bool Client::is_packed(const Target& target, const Rows& rows) {
  return rows.bytes() < ways_.pack_bytes || by_request(target) || cuts_words(target, rows);
}

// --- order

Status Client::order_transfer(Lock& lock, int target) {
  Peer& of = peer(target);
  ARMCI_RETURN_IF_ERROR(send_batch(lock, target));
  const std::uint64_t stores = of.last_store;
  if (!has_executed(of, stores)) await_until(lock, [&] { return has_executed(of, stores); });
  ARMCI_RETURN_IF_ERROR(check_way(target));
  if (of.fenced == of.puts || of.keeps_order) return kSuccess;  // D101
  if (const ucs_status_t status = ucp_worker_fence(worker_.handle()); status != UCS_OK) {
    return fail_ucs(status, "ucp_worker_fence", target);
  }
  of.fenced = of.puts;
  return kSuccess;
}

Status Client::order_request(Lock& lock, int target) {
  return peer(target).flushed < peer(target).puts ? flush_puts(lock, target) : kSuccess;
}

ucp_request_param_t Client::transfer_param(Operation* operation, const void* local, std::size_t bytes) const {
  ucp_request_param_t param = end_param(operation);
  const ucp_mem_h memory = mapped_.holding(local, bytes);
  if (memory == nullptr) return param;
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
  param.memh = memory;
  return param;
}

// --- put and get

// Without gaps, in pieces that UCX moves as they should be. A put only reads *local.
Status Client::transfer_run(Lock& lock, Operation* whole, Direction direction, const Target& target, const char* remote,
                            char* local, std::size_t bytes) {
  ucp_rkey_h key = nullptr;
  ARMCI_RETURN_IF_ERROR(unpack(target, &key));
  const ucp_request_param_t param = transfer_param(whole, local, bytes);
  const bool whole_runs = has_device(target);
  while (bytes > 0) {
    const std::size_t now = piece_bytes(whole_runs, remote, bytes);
    await_part_slot(lock);
    operations_.add_part(whole);
    Peer& of = peer(target.process);
    if (direction == Direction::kPut) ++of.puts;
    const auto there = reinterpret_cast<std::uintptr_t>(remote);
    ARMCI_RETURN_IF_ERROR(begun_part(direction == Direction::kPut
                                         ? ucp_put_nbx(of.endpoint, local, now, there, key, &param)
                                         : ucp_get_nbx(of.endpoint, local, now, there, key, &param),
                                     whole));
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

Status Client::transfer_rows(Lock& lock, Operation* whole, Direction direction, const Target& target,
                             const Rows& rows) {
  Status status;
  rows.visit(0, rows.count(), [&](char* local, char* remote) {
    if (status.ok()) status = transfer_run(lock, whole, direction, target, remote, local, rows.bytes());
  });
  return status;
}

Status Client::put(const Target& target, void* remote, const void* local, std::size_t bytes, std::uint64_t* operation) {
  Lock lock(mutex_);
  auto* const to = static_cast<char*>(remote);
  const auto* const from = static_cast<const char*>(local);
  const Peer& of = peer(target.process);
  const bool unflushed = of.executed < of.last_store || !of.batch.empty();
  const bool follows = bytes <= kFollowBytes && unflushed && of.flushed == of.puts;
  if (follows || by_request(target) || cuts_words(target, remote, bytes)) {
    ARMCI_RETURN_IF_ERROR(order_request(lock, target.process));
    if (operation != nullptr) *operation = 0;
    if (operation != nullptr && bytes <= ways_.small_bytes) {
      return coalesce(lock, target.process, reinterpret_cast<std::uintptr_t>(remote), local, bytes);
    }
    return store_run(lock, target.process, server::put_header(), to, from, bytes);
  }
  ARMCI_RETURN_IF_ERROR(order_transfer(lock, target.process));
  Operation* const whole = operations_.begin("ucp_put_nbx", target.process);
  return finish(lock, whole, transfer_run(lock, whole, Direction::kPut, target, to, const_cast<char*>(from), bytes),
                operation);
}

Status Client::put_rows(const Target& target, const Rows& rows, std::uint64_t* operation) {
  Lock lock(mutex_);
  if (is_packed(target, rows)) {
    if (operation != nullptr) *operation = 0;
    ARMCI_RETURN_IF_ERROR(order_request(lock, target.process));
    return store_rows(lock, target.process, server::put_header(), rows);
  }
  ARMCI_RETURN_IF_ERROR(order_transfer(lock, target.process));
  Operation* const whole = operations_.begin("ucp_put_nbx", target.process);
  return finish(lock, whole, transfer_rows(lock, whole, Direction::kPut, target, rows), operation);
}

Status Client::get(const Target& target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation) {
  Lock lock(mutex_);
  const auto* const from = static_cast<const char*>(remote);
  auto* const to = static_cast<char*>(local);
  if (by_request(target) || cuts_words(target, remote, bytes)) {
    ARMCI_RETURN_IF_ERROR(order_request(lock, target.process));
    Operation* const whole = operations_.begin("a get by request", target.process);
    return finish(lock, whole, fetch_run(lock, whole, target.process, from, to, bytes), operation);
  }
  ARMCI_RETURN_IF_ERROR(order_transfer(lock, target.process));
  Operation* const whole = operations_.begin("ucp_get_nbx", target.process);
  return finish(lock, whole, transfer_run(lock, whole, Direction::kGet, target, from, to, bytes), operation);
}

Status Client::get_rows(const Target& target, const Rows& rows, std::uint64_t* operation) {
  Lock lock(mutex_);
  if (is_packed(target, rows)) {
    ARMCI_RETURN_IF_ERROR(order_request(lock, target.process));
    Operation* const whole = operations_.begin("a get by request", target.process);
    return finish(lock, whole, fetch_rows(lock, whole, target.process, rows), operation);
  }
  ARMCI_RETURN_IF_ERROR(order_transfer(lock, target.process));
  Operation* const whole = operations_.begin("ucp_get_nbx", target.process);
  return finish(lock, whole, transfer_rows(lock, whole, Direction::kGet, target, rows), operation);
}

}  // namespace armci::ucx
