// Endpoints and messages.
#include "impl/ucx/client_wire.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "impl/ucx/failure.h"

namespace armci::ucx {

using engine::ReplyHeader;
using engine::RequestHeader;

namespace {

// A few short messages leave at once; of many, or of long ones, UCX may keep what the network did not take.
constexpr std::uint64_t kFew = 8;

}  // namespace

ClientWire::ClientWire(Worker* worker, PutGet put_get, const WireLimits& limits, int processes,
                       const MappedMemory& mapped)
    : put_get_(put_get),
      unsent_max_(limits.unsent),
      zero_copy_bytes_(limits.zero_copy_bytes),
      limits_{sizeof(RequestHeader) + limits.message_bytes, limits.message_bytes, limits.requests, kFew, true},
      mapped_(mapped),
      buffers_(sizeof(RequestHeader) + limits.message_bytes),
      peers_(static_cast<std::size_t>(processes)),
      worker_(*worker) {}

Status ClientWire::open() {
  return worker_.handle_messages(kReplyMessage, Role::kClient,
                                 [this](std::span<const char>, std::span<char> data) { take_reply(data); });
}

// Leaves the endpoints open: other processes may have messages pending on them.
void ClientWire::close() {
  const Worker::Use held = use();
  for (Peer& of : peers_) {
    for (const auto& [number, key] : of.keys) ucp_rkey_destroy(key);
    of.keys.clear();
  }
}

// --- endpoints

Status ClientWire::connect(int process) {
  const Worker::Use held = use();
  ucp_ep_h endpoint = nullptr;
  return worker_.endpoint(process, &endpoint);
}

Status ClientWire::describe(int process, std::string* text) {
  const Worker::Use held = use();
  ucp_ep_h endpoint = nullptr;
  ARMCI_RETURN_IF_ERROR(worker_.endpoint(process, &endpoint));
  char* printed = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&printed, &length);
  if (stream == nullptr) return fail_errno(errno, "open_memstream");
  ucp_ep_print_info(endpoint, stream);
  std::fclose(stream);
  text->assign(printed, length);
  std::free(printed);
  return kSuccess;
}

// --- messages

Status ClientWire::send(int process, int, engine::Message message, const engine::ExpectedReply*) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  const std::span<const char> data(message.bytes.get(), message.length);
  ++unsent_;
  const Status sent = worker_.issue(
      Role::kClient, process, "ucp_am_send_nbx", param,
      [data](ucp_ep_h to, const ucp_request_param_t* of) {
        return ucp_am_send_nbx(to, kRequestMessage, nullptr, 0, data.data(), data.size(), of);
      },
      [this, process, message = std::move(message)](ucs_status_t status) mutable {
        --unsent_;
        buffers_.give_back(std::move(message));
        if (status != UCS_OK) events_->lost(process, status);
      });
  if (!sent.ok()) --unsent_;
  return sent;
}

Status ClientWire::send_with_data(int process, int, engine::Message message, std::span<const char> data,
                                  engine::Part part) {
  using Pieces = std::array<ucp_dt_iov_t, 2>;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
  param.flags = UCP_AM_SEND_FLAG_EAGER;  // the engine's pieces fit into a message
  param.datatype = UCP_DATATYPE_IOV;
  auto pieces = std::make_unique<Pieces>(
      Pieces{{{message.bytes.get(), message.length}, {const_cast<char*>(data.data()), data.size()}}});
  const Pieces* const of_message = pieces.get();
  ++unsent_;
  const Status sent = worker_.issue(
      Role::kClient, process, "ucp_am_send_nbx", param,
      [of_message](ucp_ep_h to, const ucp_request_param_t* of) {
        return ucp_am_send_nbx(to, kRequestMessage, nullptr, 0, of_message->data(), of_message->size(), of);
      },
      [this, process, message = std::move(message), pieces = std::move(pieces),
       part = std::move(part)](ucs_status_t status) mutable {
        --unsent_;
        buffers_.give_back(std::move(message));
        if (status != UCS_OK) events_->lost(process, status);
        events_->ended(std::move(part), status);
      });
  if (!sent.ok()) --unsent_;
  return sent;
}

Status ClientWire::poll(bool* any) {
  *any = worker_.poll(Role::kClient);
  return kSuccess;
}

void ClientWire::take_reply(std::span<const char> message) {
  ReplyHeader header;
  if (message.size() < sizeof header) return;  // none that this library sends
  std::memcpy(&header, message.data(), sizeof header);
  events_->replied(header, message.subspan(sizeof header));
}

Status ClientWire::failure(int error, const char* call, int process) {
  return fail_ucs(static_cast<ucs_status_t>(error), call, process);
}

}  // namespace armci::ucx
