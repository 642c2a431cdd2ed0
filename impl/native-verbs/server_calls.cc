// Calls of processes by datagram.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "impl/engine/execute.h"
#include "impl/native-verbs/server_wire.h"

namespace armci::verbs {

namespace {

// With the text of the last failure. `error` is as errno has it.
Reply refusal(int error, const char* text) {
  Reply reply;
  reply.error = error;
  std::snprintf(reply.text, sizeof reply.text, "%s", text);
  return reply;
}

}  // namespace

// Executes a call once, and repeats the reply each time the call is repeated.
Status ServerWire::called(std::span<const char> message) {
  Call call;
  const bool whole = message.size() == sizeof call;
  if (whole) std::memcpy(&call, message.data(), sizeof call);
  ARMCI_RETURN_IF_ERROR(calls_.release(message));
  // The call may be of another job: no reply.
  if (!whole || call.magic != kCallMagic || call.secret != secret_) return kSuccess;
  if (call.process >= static_cast<std::uint32_t>(processes_)) return kSuccess;
  Peer& from = peer(static_cast<int>(call.process));
  if (call.sequence < from.last_call) return kSuccess;
  if (call.sequence > from.last_call) {
    from.last_reply = is_sound(call) ? carry_out(call) : refusal(EPERM, "the process may not call this for that node");
    from.last_reply.secret = secret_;
    from.last_reply.sequence = from.last_call = call.sequence;
  }
  // A reply that cannot be sent is lost, as any datagram may be.
  (void)calls_.send(call.reply, {reinterpret_cast<const char*>(&from.last_reply), sizeof from.last_reply});
  return kSuccess;
}

bool ServerWire::is_sound(const Call& call) {
  if (call.kind == CallKind::kConnect) return !peers_[call.process].sender.link.exists();
  if (!own_(static_cast<int>(call.process))) return false;
  if (call.kind == CallKind::kDeregister) return true;
  return call.bytes > 0 && blocks_.holds(engine::pointer(call.address), call.bytes);
}

Reply ServerWire::carry_out(const Call& call) {
  if (call.kind == CallKind::kConnect) return connect(call);
  if (call.kind == CallKind::kRegister) return register_memory(call);
  const auto found = regions_.find(engine::pointer(call.address));
  if (found == regions_.end() || found->second->rkey != call.key)
    return refusal(EINVAL, "the server has no such registration");
  regions_.erase(found);
  return {};
}

Reply ServerWire::connect(const Call& call) {
  Sender<engine::Buffer>& sender = peer(static_cast<int>(call.process)).sender;
  const LinkParts parts{done_.get(), received_.get(), 2 * bounds_.requests_per_process, 0};
  Status status = sender.create(device_, 0, parts);
  if (status.ok()) status = sender.link.connect(device_, call.link);
  if (!status.ok()) {
    sender = {};
    return refusal(EIO, last_cause().text);
  }
  process_of_[sender.link.number()] = static_cast<int>(call.process);
  Reply reply;
  reply.link = sender.link.address(device_);
  return reply;
}

Reply ServerWire::register_memory(const Call& call) {
  char* const base = engine::pointer(call.address);
  Owned<ibv_mr> region(ibv_reg_mr(device_.domain(), base, call.bytes,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
  if (region == nullptr) {
    const int error = errno;
    (void)fail_verbs(error, "ibv_reg_mr of a region");
    return refusal(error, last_cause().text);
  }
  Reply reply;
  reply.remote_key = region->rkey;
  reply.local_key = region->lkey;
  regions_[base] = std::move(region);
  return reply;
}

}  // namespace armci::verbs
