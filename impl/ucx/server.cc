#include "impl/ucx/server.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "impl/server/execute.h"

namespace armci::ucx {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;
using server::Request;
using server::RequestKind;

struct Server::Fetch {
  Server* server;
  RequestTag tag;
  ucp_ep_h origin;
  std::unique_ptr<char[]> message;
};

Server::Server(std::size_t processes, std::size_t chunk_bytes)
    : processes_(processes), chunk_bytes_(chunk_bytes), is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }) {}

Status Server::open(const Context& context) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  return worker_.handle(kRequest, requested, this);
}

ucs_status_t Server::requested(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* about) {
  auto* const server = static_cast<Server*>(self);
  // Without these nobody can be told that something is wrong.
  if (header_bytes != sizeof(RequestTag) || (about->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0) return UCS_OK;
  RequestTag tag;
  std::memcpy(&tag, header, sizeof tag);
  if ((about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return server->fetch(tag, about->reply_ep, data, bytes);
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) == 0) {
    server->execute(tag, about->reply_ep, {static_cast<const char*>(data), bytes});
    return UCS_OK;
  }
  const std::unique_ptr<char[]> aligned(new char[bytes]);
  std::memcpy(aligned.get(), data, bytes);
  server->execute(tag, about->reply_ep, {aligned.get(), bytes});
  return UCS_OK;
}

ucs_status_t Server::fetch(const RequestTag& tag, ucp_ep_h origin, void* descriptor, std::size_t bytes) {
  if (bytes > chunk_bytes_) {
    (void)fail(Code::kLayerBelow, nullptr, "a request of %zu bytes: at most %zu are taken", bytes, chunk_bytes_);
    refuse(tag, origin);
    return UCS_OK;  // drops it
  }
  auto fetch = std::make_unique<Fetch>(Fetch{this, tag, origin, std::unique_ptr<char[]>(new char[bytes])});
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  how.cb.recv_am = fetched;
  how.user_data = fetch.get();
  void* const request = ucp_am_recv_data_nbx(worker_.get(), descriptor, fetch->message.get(), bytes, &how);
  if (UCS_PTR_IS_ERR(request)) {
    (void)fail_ucx(UCS_PTR_STATUS(request), "ucp_am_recv_data_nbx");
    refuse(tag, origin);
    return UCS_OK;
  }
  (void)fetch.release();  // fetched() has it
  return UCS_INPROGRESS;
}

void Server::fetched(void* request, ucs_status_t status, std::size_t bytes, void* fetch) {
  const std::unique_ptr<Fetch> done(static_cast<Fetch*>(fetch));
  ucp_request_free(request);
  if (status != UCS_OK) {
    (void)fail_ucx(status, "ucp_am_recv_data_nbx");
    done->server->refuse(done->tag, done->origin);
    return;
  }
  done->server->execute(done->tag, done->origin, {done->message.get(), bytes});
}

void Server::execute(const RequestTag& tag, ucp_ep_h origin, std::span<const char> message) {
  Request request;
  Status valid = server::decode(message, is_inside_, {chunk_bytes_, 0}, &request);
  if (valid.ok() &&
      (request.header.kind == RequestKind::kBye || request.data_follow() || request.header.origin >= processes_)) {
    valid = fail(Code::kLayerBelow, nullptr, "a request for what is not done here");
  }
  if (!valid.ok()) return refuse(tag, origin);
  carry_out(tag, origin, request);
}

// Memory ordering: what was stored is visible to all processes of the node before the answer is to anyone [FENCE-1].
void Server::carry_out(const RequestTag& tag, ucp_ep_h origin, const Request& request) {
  auto made = std::make_unique<Answer>();
  made->tag.token = tag.token;
  if (request.header.kind == RequestKind::kAtomic) {
    made->tag.value = server::execute_atomic(request.header);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return answer(origin, std::move(made), nullptr, 0);
  }
  if (request.is_store()) {
    server::store(request, request.data.data());
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return answer(origin, std::move(made), nullptr, 0);
  }
  // Not sent from where they lie, even in one piece: UCX would cut them in the middle of an element [LC-3].
  const std::size_t bytes = request.total_bytes();
  made->data.reset(new char[bytes]);
  server::collect(request, made->data.get());
  const char* const data = made->data.get();
  answer(origin, std::move(made), data, bytes);
}

// With the text of the last failure.
void Server::refuse(const RequestTag& tag, ucp_ep_h origin) {
  auto made = std::make_unique<Answer>();
  made->tag.token = tag.token;
  made->tag.failed = 1;
  const char* const text = common::last_cause().text;
  const std::size_t bytes = std::strlen(text) + 1;
  made->data.reset(new char[bytes]);
  std::memcpy(made->data.get(), text, bytes);
  const char* const data = made->data.get();
  answer(origin, std::move(made), data, bytes);
}

void Server::answer(ucp_ep_h origin, std::unique_ptr<Answer> answer, const void* data, std::size_t bytes) {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = answered;
  how.user_data = answer.get();
  void* const sent = ucp_am_send_nbx(origin, kReply, &answer->tag, sizeof answer->tag, data, bytes, &how);
  // Where it failed the asking process is gone, or learns it from its own endpoint.
  if (UCS_PTR_IS_PTR(sent)) (void)answer.release();  // answered() has it
}

void Server::answered(void* request, ucs_status_t, void* answer) {
  const std::unique_ptr<Answer> sent(static_cast<Answer*>(answer));
  ucp_request_free(request);
}

}  // namespace armci::ucx
