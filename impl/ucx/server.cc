#include "impl/ucx/server.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"
#include "impl/server/execute.h"
#include "impl/ucx/client.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {
using server::Request;
using server::RequestKind;

namespace {

// The memory that UCX reads until the reply is sent.
struct Outgoing {
  ReplyPrefix prefix;
  Message data;
  MessageBuffers* buffers;
  int process;
};

void end_reply(Outgoing* outgoing) {
  outgoing->buffers->give_back(std::move(outgoing->data));
  delete outgoing;
}

// A reply was not sent: its origin would hang.
[[noreturn]] void end_job(ucs_status_t status, int process) {
  (void)note(fail_ucs(status, "ucp_am_send_nbx", process),
             "a reply was not sent, so the job ends, because the origin would hang");
  die_of_failure("server");
}

}  // namespace

Server::Server(int process, int processes, std::size_t reply_bytes_max)
    : process_(process),
      is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }),
      bounds_{reply_bytes_max, 0},
      buffers_(sizeof(server::RequestHeader) + reply_bytes_max),
      origins_(static_cast<std::size_t>(processes)) {}

Status Server::open(const Context& context) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  return worker_.handle_messages(kRequestMessage, &on_request, this);
}

Status Server::start(Client* client) {
  client_ = client;
  return runtime::start_background_thread(
      "armci-ucx", [this] { run(); }, &thread_);
}

void Server::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  worker_.signal();
  thread_.join();
}

void Server::run() {
  constexpr unsigned kRoundsWithoutProgress = 64;
  unsigned rounds = 0;
  node::Waiter waiter(node::WaitKind::kRequests);
  while (!stopping_.load()) {
    if (passes_.try_pass([this] { return pass(); })) {
      waiter.restart();
      passes_.work_found();
      if (++rounds % kRoundsWithoutProgress == 0) (void)client_->progress_for_server(nullptr);
    } else if (passes_.is_helped()) {
      (void)client_->progress_for_server(nullptr);
      std::this_thread::sleep_for(std::chrono::microseconds(server::Passes::kHelpedSleepUs));  // the reason is there
    } else if (waiter.pause_us() > 0) {  // else more may come at once
      rest();
    }
  }
}

// The server thread reports the counts when the wait is over.
void Server::serve_while_waiting() {
  passes_.pass_while_waiting([this] { return pass(); }, [this] { worker_.signal(); });
}

bool Server::pass() {
  const bool any = worker_.progress();
  // In a pass that finds no request, so that the message does not keep the next request waiting.
  if (!any || ++busy_passes_ >= kBusyPassesMax) {
    busy_passes_ = 0;
    report_counts();
  }
  return any;
}

// No request has arrived.
void Server::rest() {
  constexpr int kWithoutEnd = -1;
  const Worker* other = nullptr;
  const Client::Need need = client_->progress_for_server(&other);
  if (need == Client::Need::kMore) return;
  {
    const auto lock = passes_.lock();
    report_counts();  // of what a waiting thread has executed
    if (!worker_.arm()) return;
    passes_.set_resting(true);
  }
  // The client's event may be taken by a caller, and no other come.
  worker_.await_event(other, need == Client::Need::kNone ? kWithoutEnd : Client::kSleepUs);
  passes_.set_resting(false);
}

// --- requests

ucs_status_t Server::on_request(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* param) {
  auto* const server = static_cast<Server*>(self);
  RequestPrefix prefix{};
  if (!read_prefix(header, header_bytes, *param, &prefix) || prefix.origin >= server->origins_.size() ||
      (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0) {
    return UCS_OK;
  }
  Origin* const from = &server->origins_[prefix.origin];
  from->back = param->reply_ep;
  const std::span<const char> message(static_cast<const char*>(data), bytes);
  if (prefix.sequence == from->executed + 1) {
    server->execute(from, prefix, message);
    server->execute_waiting(from);
  } else {
    Waiting& waiting = from->waiting[prefix.sequence];
    waiting.prefix = prefix;
    waiting.message = server->copy_of(message);
  }
  return UCS_OK;
}

void Server::execute_waiting(Origin* from) {
  for (auto next = from->waiting.begin(); next != from->waiting.end() && next->first == from->executed + 1;
       next = from->waiting.begin()) {
    Waiting& waiting = next->second;
    execute(from, waiting.prefix, {waiting.message.bytes.get(), waiting.message.length});
    buffers_.give_back(std::move(waiting.message));
    from->waiting.erase(next);
  }
}

// --- execution

void Server::execute(Origin* from, const RequestPrefix& prefix, std::span<const char> message) {
  // Addresses in it are read as words.
  Message aligned;
  if (reinterpret_cast<std::uintptr_t>(message.data()) % alignof(std::uint64_t) != 0) {
    aligned = copy_of(message);
    message = {aligned.bytes.get(), aligned.length};
  }
  ReplyPrefix result{};
  Message data;
  const Status status = perform(message, &result, &data);
  if (!status.ok()) {
    // The origin gets the failure. The server prints the cause.
    (void)note(status, "from process %u", prefix.origin);
    print_failure("server", last_cause());
    result.failed = 1;
  }
  buffers_.give_back(std::move(aligned));
  ++from->executed;
  result.reply_id = prefix.reply_id;
  if (prefix.reply_id != 0 || !status.ok()) {
    reply(from, result, std::move(data));
  } else if (from->reported + 1 == from->executed) {
    unreported_.push_back(prefix.origin);
  }
}

Message Server::copy_of(std::span<const char> message) {
  Message copy = buffers_.take(message.size());
  if (!message.empty()) std::memcpy(copy.bytes.get(), message.data(), message.size());
  return copy;
}

Status Server::perform(std::span<const char> message, ReplyPrefix* reply, Message* data) {
  Request request;
  ARMCI_RETURN_IF_ERROR(server::decode(message, is_inside_, bounds_, &request));
  switch (request.header.kind) {
    case RequestKind::kPut:
    case RequestKind::kAccumulate:
    case RequestKind::kSignal:
      server::store(request, request.data.data());
      break;
    case RequestKind::kGet:
      *data = buffers_.take(request.total_bytes());
      (void)server::collect(request, data->bytes.get());
      break;
    case RequestKind::kAtomic:
      reply->value = server::execute_atomic(request.header);
      break;
    case RequestKind::kDisconnect:
      break;
  }
  return kSuccess;
}

// --- replies

void Server::reply(Origin* from, ReplyPrefix prefix, Message data) {
  prefix.server = static_cast<std::uint32_t>(process_);
  prefix.executed = from->executed;
  from->reported = from->executed;
  auto* const outgoing = new Outgoing{prefix, std::move(data), &buffers_, static_cast<int>(from - origins_.data())};
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.user_data = outgoing;
  param.cb.send = [](void* request, ucs_status_t status, void* sent) {
    auto* const outgoing = static_cast<Outgoing*>(sent);
    // Canceled: no process waits for a reply at the end of the job.
    if (status != UCS_OK && status != UCS_ERR_CANCELED) end_job(status, outgoing->process);
    end_reply(outgoing);
    ucp_request_free(request);
  };
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(from->back, kReplyMessage, &outgoing->prefix, sizeof outgoing->prefix, outgoing->data.bytes.get(),
                      outgoing->data.length, &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return;
  if (request != nullptr) end_job(UCS_PTR_STATUS(request), outgoing->process);
  end_reply(outgoing);
}

void Server::report_counts() {
  for (const std::uint32_t process : unreported_) {
    Origin& origin = origins_[process];
    if (origin.reported < origin.executed) reply(&origin, {}, {});
  }
  unreported_.clear();
}

}  // namespace armci::ucx
