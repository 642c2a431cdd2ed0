// Endpoints and messages.
#include "impl/ucx/client_wire.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "impl/node/waiter.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {

using engine::ReplyHeader;
using engine::RequestHeader;

namespace {

// A few short messages leave at once; of many, or of long ones, UCX may keep what the network did not take.
constexpr std::uint64_t kFew = 8;

}  // namespace

ClientWire::ClientWire(PutGet put_get, const WireLimits& limits, const MappedMemory& mapped)
    : put_get_(put_get),
      unsent_max_(limits.unsent),
      limits_{sizeof(RequestHeader) + limits.message_bytes, limits.message_bytes, limits.requests, kFew, true},
      mapped_(mapped),
      buffers_(sizeof(RequestHeader) + limits.message_bytes) {}

Status ClientWire::open(const Context& context, std::vector<std::string> addresses) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  ARMCI_RETURN_IF_ERROR(worker_.handle_messages(kReplyMessage, &on_reply, this));
  addresses_ = std::move(addresses);
  peers_.resize(addresses_.size());
  return kSuccess;
}

void ClientWire::close() {
  std::vector<ucs_status_ptr_t> closing;
  for (Peer& of : peers_) {
    for (const auto& [number, key] : of.keys) ucp_rkey_destroy(key);
    of.keys.clear();
    if (of.endpoint == nullptr) continue;
    ucp_request_param_t param{};
    const ucs_status_ptr_t request = ucp_ep_close_nbx(std::exchange(of.endpoint, nullptr), &param);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
  }
  node::Waiter waiter(node::WaitKind::kReply);
  for (const ucs_status_ptr_t request : closing) {
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
      if (!worker_.progress()) waiter.step();
    }
    ucp_request_free(request);
  }
}

// --- endpoints

Status ClientWire::connect(int process) {
  Peer& of = peer(process);
  if (of.endpoint != nullptr) return kSuccess;
  const Status status = worker_.connect(addresses_[static_cast<std::size_t>(process)], process, &of.endpoint);
  if (!status.ok()) of.endpoint = nullptr;
  return status;
}

Status ClientWire::describe(int process, std::string* text) {
  ARMCI_RETURN_IF_ERROR(connect(process));
  char* printed = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&printed, &length);
  if (stream == nullptr) return fail_errno(errno, "open_memstream");
  ucp_ep_print_info(peer(process).endpoint, stream);
  std::fclose(stream);
  text->assign(printed, length);
  std::free(printed);
  return kSuccess;
}

// --- messages

// The memory that UCX reads until the request is sent.
struct ClientWire::Outgoing {
  engine::Message message;
  ClientWire* wire;
  int process;
};

Status ClientWire::send(int process, int, engine::Message message, const engine::ExpectedReply*) {
  auto outgoing = std::make_unique<Outgoing>(Outgoing{std::move(message), this, process});
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
  param.user_data = outgoing.get();
  param.cb.send = [](void* request, ucs_status_t status, void* sent) {
    const std::unique_ptr<Outgoing> outgoing(static_cast<Outgoing*>(sent));
    ClientWire* const wire = outgoing->wire;
    --wire->unsent_;
    wire->buffers_.give_back(std::move(outgoing->message));
    ucp_request_free(request);
    if (status != UCS_OK) wire->events_->lost(outgoing->process, status);
  };
  const ucs_status_ptr_t request = ucp_am_send_nbx(peer(process).endpoint, kRequestMessage, nullptr, 0,
                                                   outgoing->message.bytes.get(), outgoing->message.length, &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) {
    ++unsent_;
    (void)outgoing.release();  // the callback has it
    return kSuccess;
  }
  buffers_.give_back(std::move(outgoing->message));
  return request == nullptr ? kSuccess : fail_ucs(UCS_PTR_STATUS(request), "ucp_am_send_nbx", process);
}

Status ClientWire::poll(bool* any) {
  *any = worker_.progress();
  return kSuccess;
}

ucs_status_t ClientWire::on_reply(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                  const ucp_am_recv_param_t* param) {
  require_whole(*param);
  ReplyHeader header;
  if (bytes < sizeof header) return UCS_OK;  // none that this library sends
  std::memcpy(&header, data, sizeof header);
  static_cast<ClientWire*>(self)->events_->replied(
      header, {static_cast<const char*>(data) + sizeof header, bytes - sizeof header});
  return UCS_OK;
}

Status ClientWire::failure(int error, const char* call, int process) {
  return fail_ucs(static_cast<ucs_status_t>(error), call, process);
}

}  // namespace armci::ucx
