// Puts and gets of UCX's own, and the keys of the memory.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "impl/ucx/client_wire.h"
#include "impl/ucx/failure.h"
#include "impl/ucx/used_transports.h"

namespace armci::ucx {

using engine::Rows;
using engine::Target;

namespace {

// A piece fits into one message of every transport. Where UCX copies, it copies by whole words.
constexpr std::size_t kPieceBytes = 1024;
constexpr std::size_t kWordBytes = 8;
// Unpacked keys of one process, at most.
constexpr std::size_t kKeysMax = 1024;

const PackedKey& key_of(const Target& target) { return *static_cast<const PackedKey*>(target.key); }

}  // namespace

// --- keys

void ClientWire::add_key(int process, std::uint32_t number, std::string packed) {
  peer(process).learned.emplace(number, std::move(packed));
}

void ClientWire::remove_key(int process, std::uint32_t number) {
  const Worker::Use held = use();
  Peer& of = peer(process);
  of.learned.erase(number);
  const auto found = of.keys.find(number);
  if (found == of.keys.end()) return;
  ucp_rkey_destroy(found->second);
  of.keys.erase(found);
}

// `pending`: parts of operations that may use a key.
Status ClientWire::unpack(int process, const PackedKey& key, std::size_t pending, ucp_rkey_h* unpacked) {
  Peer& of = peer(process);
  const auto found = of.keys.find(key.number);
  if (found != of.keys.end()) {
    *unpacked = found->second;
    return kSuccess;
  }
  // Keys of memory that one process allocated alone are never forgotten by the others, so they are dropped here and
  // unpacked again when needed.
  if (of.keys.size() >= kKeysMax && pending == 0) {
    for (const auto& [number, dropped] : of.keys) ucp_rkey_destroy(dropped);
    of.keys.clear();
  }
  const void* packed = key.bytes;
  if (key.length == 0) packed = of.learned.at(key.number).data();
  ucp_ep_h endpoint = nullptr;
  ARMCI_RETURN_IF_ERROR(worker_.endpoint(process, &endpoint));
  const ucs_status_t status = ucp_ep_rkey_unpack(endpoint, packed, unpacked);
  if (status != UCS_OK) return fail_ucs(status, "ucp_ep_rkey_unpack", process);
  of.keys.emplace(key.number, *unpacked);
  return kSuccess;
}

bool ClientWire::has_key(int process, const PackedKey& key) {
  return key.length != 0 || peer(process).learned.contains(key.number);
}

bool ClientWire::has_device(int process, const PackedKey& key) {
  Peer& of = peer(process);
  const auto learned = of.learned.find(key.number);
  const bool has_none = learned == of.learned.end() ? has_no_device(key.bytes, key.length)
                                                    : has_no_device(learned->second.data(), learned->second.size());
  if (has_none) return false;
  if (!of.has_rdma) {
    std::string description;
    // An endpoint that fails here fails in the transfer as well.
    if (!describe(process, &description).ok()) return false;
    of.has_rdma = has_rdma(transports_of(description));
    of.keeps_order = is_soft_roce(device_of_one_lane(description));
  }
  return *of.has_rdma;
}

// --- transfers

// A device promises nothing about parts of words: Soft-RoCE moves them byte by byte, and an element of 4 bytes at the
// end of a store would be seen in halves [LC-3].
bool ClientWire::reaches(const Target& target, const void* remote, std::size_t bytes) {
  const PackedKey& key = key_of(target);
  if (!has_key(target.process, key)) return false;
  if (!has_device(target.process, key)) return put_get_ == PutGet::kAlways;
  return (reinterpret_cast<std::uintptr_t>(remote) | bytes) % kWordBytes == 0;
}

bool ClientWire::reaches(const Target& target, const Rows& rows) {
  const PackedKey& key = key_of(target);
  if (!has_key(target.process, key)) return false;
  if (!has_device(target.process, key)) return put_get_ == PutGet::kAlways;
  std::uintptr_t bits = rows.bytes();
  rows.visit(0, rows.count(),
             [&](const char*, const char* remote) { bits |= reinterpret_cast<std::uintptr_t>(remote); });
  return bits % kWordBytes == 0;
}

std::size_t ClientWire::piece_bytes(const Target& target, const void* remote, std::size_t bytes) {
  if (has_device(target.process, key_of(target))) return bytes;
  return std::min(bytes, kPieceBytes - reinterpret_cast<std::uintptr_t>(remote) % kWordBytes);
}

namespace {

auto ends_part(engine::Operations::Operation* operation) {
  return [operation](ucs_status_t status) { operation->owner->end_part(operation, status); };
}

}  // namespace

// A transfer passes the handle of its local memory, so that UCX does not search for a registration.
Status ClientWire::transfer(Direction direction, const Target& target, char* remote, char* local, std::size_t* bytes,
                            Operation* operation) {
  const Worker::Use held = use();
  *bytes = piece_bytes(target, remote, *bytes);
  ucp_rkey_h key = nullptr;
  const std::size_t others = operation->owner->pending() - 1;
  ARMCI_RETURN_IF_ERROR(unpack(target.process, key_of(target), others, &key));
  ucp_request_param_t param{};
  if (const ucp_mem_h memory = mapped_.holding(local, *bytes); memory != nullptr) {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
    param.memh = memory;
  }
  const auto there = reinterpret_cast<std::uintptr_t>(remote);
  const bool writes = direction == Direction::kWrite;
  return worker_.issue(
      Role::kClient, target.process, writes ? "ucp_put_nbx" : "ucp_get_nbx", param,
      [=](ucp_ep_h to, const ucp_request_param_t* of) {
        return writes ? ucp_put_nbx(to, local, *bytes, there, key, of) : ucp_get_nbx(to, local, *bytes, there, key, of);
      },
      ends_part(operation));
}

Status ClientWire::fence(const Target& target) {
  if (peer(target.process).keeps_order) return kSuccess;  // D101
  const Worker::Use held = use();
  const ucs_status_t status = ucp_worker_fence(worker_.handle());
  return status == UCS_OK ? kSuccess : fail_ucs(status, "ucp_worker_fence", target.process);
}

Status ClientWire::flush(int process, Operation* operation) {
  return worker_.issue(
      Role::kClient, process, "ucp_ep_flush_nbx", {},
      [](ucp_ep_h to, const ucp_request_param_t* of) { return ucp_ep_flush_nbx(to, of); }, ends_part(operation));
}

}  // namespace armci::ucx
