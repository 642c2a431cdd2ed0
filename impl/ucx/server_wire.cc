#include "impl/ucx/server_wire.h"

#include <cstring>
#include <memory>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/engine/request.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {

using engine::Arrival;
using engine::Message;

namespace {

constexpr const char* kSend = "ucp_am_send_nbx";

// A message was not sent: its receiver would hang.
[[noreturn]] void end_job(const Status& failed) {
  (void)note(failed, "a message was not sent, so the job ends, because its receiver would hang");
  die_of_failure("server");
}

void end_if_failed(const Status& status) {
  if (!status.ok()) die_of_failure("server");
}

ServerPrefix read_prefix(std::span<const char> header) {
  ServerPrefix prefix{};
  if (header.size() != sizeof prefix) {
    end_if_failed(fail(Code::kLayerBelow, nullptr,
                       "a message between servers has a header of %zu bytes, not %zu; link all processes with the same "
                       "library",
                       header.size(), sizeof prefix));
  }
  std::memcpy(&prefix, header.data(), sizeof prefix);
  return prefix;
}

}  // namespace

ServerWire::ServerWire(Worker* worker, int process, std::size_t reply_bytes)
    : process_(process),
      reply_bytes_(reply_bytes),
      buffers_(sizeof(engine::RequestHeader) + reply_bytes),
      worker_(*worker) {}

Status ServerWire::open() {
  using Header = std::span<const char>;
  using Data = std::span<char>;
  ARMCI_RETURN_IF_ERROR(
      worker_.handle_messages(kRequestMessage, Role::kServer, [this](Header, Data data) { take_request(data); }));
  ARMCI_RETURN_IF_ERROR(worker_.handle_messages(kForwardMessage, Role::kServer,
                                                [this](Header header, Data data) { take_forwarded(header, data); }));
  return worker_.handle_messages(kAcknowledgeMessage, Role::kServer,
                                 [this](Header header, Data) { take_acknowledgement(header); });
}

Status ServerWire::poll(bool* any) {
  *any = worker_.poll(Role::kServer);
  return kSuccess;
}

// --- arrivals

void ServerWire::take_request(std::span<char> message) {
  engine::RequestHeader header;
  end_if_failed(engine::read_header(message, &header));
  end_if_failed(arrived(message, static_cast<int>(header.origin), false));
}

void ServerWire::take_forwarded(std::span<const char> header, std::span<char> message) {
  const ServerPrefix prefix = read_prefix(header);
  end_if_failed(arrived(message, static_cast<int>(prefix.server), true));
}

void ServerWire::take_acknowledgement(std::span<const char> header) {
  const ServerPrefix prefix = read_prefix(header);
  end_if_failed(events_->acknowledged(static_cast<int>(prefix.server), prefix.acknowledgement));
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

// `data`: of `message`, or of a kept request, which stays in its memory until it is acknowledged.
Status ServerWire::send(unsigned id, int process, const ServerPrefix* prefix, std::span<const char> data,
                        Message message) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  auto header = prefix != nullptr ? std::make_unique<ServerPrefix>(*prefix) : nullptr;
  const ServerPrefix* const head = header.get();
  const Status sent = worker_.issue(
      Role::kServer, process, kSend, param,
      [=](ucp_ep_h to, const ucp_request_param_t* of) {
        return ucp_am_send_nbx(to, id, head, head != nullptr ? sizeof *head : 0, data.data(), data.size(), of);
      },
      [this, process, header = std::move(header), message = std::move(message)](ucs_status_t status) mutable {
        // Canceled: no process waits for a reply at the end of the job.
        if (status != UCS_OK && status != UCS_ERR_CANCELED) end_job(fail_ucs(status, kSend, process));
        buffers_.give_back(std::move(message));
      });
  if (!sent.ok()) end_job(sent);
  return kSuccess;
}

Status ServerWire::reply(int process, std::uint32_t, Message message) {
  const std::span<const char> data(message.bytes.get(), message.length);
  return send(kReplyMessage, process, nullptr, data, std::move(message));
}

Status ServerWire::forward(int server, const Arrival& arrival) {
  const ServerPrefix prefix{static_cast<std::uint32_t>(process_), 0};
  return send(kForwardMessage, server, &prefix, arrival.message, {});
}

Status ServerWire::acknowledge(int server, std::uint32_t acknowledgement) {
  const ServerPrefix prefix{static_cast<std::uint32_t>(process_), acknowledgement};
  return send(kAcknowledgeMessage, server, &prefix, {}, {});
}

}  // namespace armci::ucx
