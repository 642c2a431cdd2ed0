#include "impl/ucx/server_wire.h"

#include <cstring>
#include <memory>

#include "impl/base/backtrace.h"
#include "impl/engine/request.h"
#include "impl/ucx/client_wire.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {

using engine::Arrival;
using engine::Message;

namespace {

// A message was not sent: its receiver would hang.
[[noreturn]] void end_job(ucs_status_t status, int process) {
  (void)note(fail_ucs(status, "ucp_am_send_nbx", process),
             "a message was not sent, so the job ends, because its receiver would hang");
  die_of_failure("server");
}

void end_if_failed(const Status& status) {
  if (!status.ok()) die_of_failure("server");
}

}  // namespace

ServerWire::ServerWire(int process, int processes, std::size_t reply_bytes)
    : process_(process),
      reply_bytes_(reply_bytes),
      buffers_(sizeof(engine::RequestHeader) + reply_bytes),
      back_(static_cast<std::size_t>(processes)),
      neighbours_(static_cast<std::size_t>(processes)) {}

Status ServerWire::open(const Context& context) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  ARMCI_RETURN_IF_ERROR(worker_.handle_messages(kRequestMessage, &on_request, this));
  ARMCI_RETURN_IF_ERROR(worker_.handle_messages(kForwardMessage, &on_forward, this));
  return worker_.handle_messages(kAcknowledgeMessage, &on_acknowledge, this);
}

void ServerWire::learn(std::vector<std::string> servers, std::vector<std::string> processes) {
  servers_ = std::move(servers);
  processes_ = std::move(processes);
}

Status ServerWire::poll(bool* any) {
  *any = worker_.progress();
  return kSuccess;
}

void ServerWire::await_event(engine::ClientWire* other, std::int64_t us) {
  worker_.await_event(other != nullptr ? &static_cast<ClientWire*>(other)->worker() : nullptr, us);
}

// --- arrivals

ucs_status_t ServerWire::on_request(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                    const ucp_am_recv_param_t* param) {
  require_whole(*param);
  auto* const wire = static_cast<ServerWire*>(self);
  engine::RequestHeader header;
  end_if_failed(engine::read_header({static_cast<const char*>(data), bytes}, &header));
  if (header.origin < wire->back_.size() && (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0) {
    wire->back_[header.origin] = param->reply_ep;
  }
  end_if_failed(wire->arrived({static_cast<char*>(data), bytes}, static_cast<int>(header.origin), false));
  return UCS_OK;
}

ucs_status_t ServerWire::on_forward(void* self, const void* header, std::size_t header_bytes, void* data,
                                    std::size_t bytes, const ucp_am_recv_param_t* param) {
  require_whole(*param);
  ServerPrefix prefix{};
  if (header_bytes != sizeof prefix) return UCS_OK;
  std::memcpy(&prefix, header, sizeof prefix);
  end_if_failed(static_cast<ServerWire*>(self)->arrived({static_cast<char*>(data), bytes},
                                                        static_cast<int>(prefix.server), true));
  return UCS_OK;
}

ucs_status_t ServerWire::on_acknowledge(void* self, const void* header, std::size_t header_bytes, void*, std::size_t,
                                        const ucp_am_recv_param_t*) {
  ServerPrefix prefix{};
  if (header_bytes != sizeof prefix) return UCS_OK;
  std::memcpy(&prefix, header, sizeof prefix);
  end_if_failed(
      static_cast<ServerWire*>(self)->events_->acknowledged(static_cast<int>(prefix.server), prefix.acknowledgement));
  return UCS_OK;
}

// The addresses in a message are read as words.
Status ServerWire::arrived(std::span<char> message, int from, bool forwarded) {
  Arrival arrival{message, from, forwarded, nullptr};
  if (reinterpret_cast<std::uintptr_t>(message.data()) % alignof(std::uint64_t) != 0) {
    ARMCI_RETURN_IF_ERROR(keep(&arrival));
  }
  return events_->arrived(arrival);
}

// UCX takes the memory of a message back after the event.
Status ServerWire::keep(Arrival* arrival) {
  if (arrival->place != nullptr) return kSuccess;
  auto kept = std::make_unique<Message>(buffers_.take(arrival->message.size()));
  std::memcpy(kept->bytes.get(), arrival->message.data(), kept->length);
  arrival->message = {kept->bytes.get(), kept->length};
  arrival->place = kept.release();
  return kSuccess;
}

Status ServerWire::release(const Arrival& arrival) {
  if (arrival.place == nullptr) return kSuccess;
  const std::unique_ptr<Message> kept(static_cast<Message*>(arrival.place));
  buffers_.give_back(std::move(*kept));
  return kSuccess;
}

// --- sending

// The memory that UCX reads until the message is sent.
struct ServerWire::Outgoing {
  ServerPrefix prefix;
  Message message;
  engine::MessageBuffers* buffers;
  int process;

  ~Outgoing() { buffers->give_back(std::move(message)); }
};

// `data`: of `message`, or of a kept request, which stays in its memory until it is acknowledged.
Status ServerWire::send(unsigned id, ucp_ep_h endpoint, int process, const ServerPrefix* prefix,
                        std::span<const char> data, Message message) {
  auto outgoing = std::unique_ptr<Outgoing>(
      new Outgoing{prefix != nullptr ? *prefix : ServerPrefix{}, std::move(message), &buffers_, process});
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.user_data = outgoing.get();
  param.cb.send = [](void* request, ucs_status_t status, void* sent) {
    const std::unique_ptr<Outgoing> outgoing(static_cast<Outgoing*>(sent));
    // Canceled: no process waits for a reply at the end of the job.
    if (status != UCS_OK && status != UCS_ERR_CANCELED) end_job(status, outgoing->process);
    ucp_request_free(request);
  };
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(endpoint, id, prefix != nullptr ? &outgoing->prefix : nullptr,
                      prefix != nullptr ? sizeof *prefix : 0, data.data(), data.size(), &param);
  if (UCS_PTR_IS_ERR(request)) end_job(UCS_PTR_STATUS(request), process);
  if (request != nullptr) (void)outgoing.release();  // the callback has it
  return kSuccess;
}

// The endpoint that a request brought, or a new one.
Status ServerWire::reach(std::vector<ucp_ep_h>* endpoints, const std::vector<std::string>& addresses, int process) {
  ucp_ep_h& endpoint = (*endpoints)[static_cast<std::size_t>(process)];
  if (endpoint != nullptr) return kSuccess;
  return worker_.connect(addresses[static_cast<std::size_t>(process)], process, &endpoint);
}

Status ServerWire::reply(int process, std::uint32_t, Message message) {
  ARMCI_RETURN_IF_ERROR(reach(&back_, processes_, process));
  const std::span<const char> data(message.bytes.get(), message.length);
  return send(kReplyMessage, back_[static_cast<std::size_t>(process)], process, nullptr, data, std::move(message));
}

Status ServerWire::forward(int server, const Arrival& arrival) {
  ARMCI_RETURN_IF_ERROR(reach(&neighbours_, servers_, server));
  const ServerPrefix prefix{static_cast<std::uint32_t>(process_), 0};
  return send(kForwardMessage, neighbours_[static_cast<std::size_t>(server)], server, &prefix, arrival.message, {});
}

Status ServerWire::acknowledge(int server, std::uint32_t acknowledgement) {
  ARMCI_RETURN_IF_ERROR(reach(&neighbours_, servers_, server));
  const ServerPrefix prefix{static_cast<std::uint32_t>(process_), acknowledgement};
  return send(kAcknowledgeMessage, neighbours_[static_cast<std::size_t>(server)], server, &prefix, {}, {});
}

}  // namespace armci::ucx
