// Requests to servers.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "impl/node/copy.h"
#include "impl/server/compose.h"
#include "impl/ucx/client.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {
using server::RequestHeader;
using server::Rows;

namespace {

// Of a batch with its header: long enough that what a message costs does not show.
constexpr std::size_t kBatchBytes = 8000;

}  // namespace

// The memory that UCX reads until the request is sent.
struct Client::Outgoing {
  RequestPrefix prefix;
  Message message;
  Operation* operation;
  Client* client;
};

void Client::await_credit(Lock& lock, const Peer& of) {
  if (has_credit(of)) return;
  await_until(lock, [&] { return has_credit(of); });
}

// Sends the batch, waits for a credit, and sends the message. Puts of this thread in the batch precede the message.
// Puts that other threads add meanwhile have no order with it.
Status Client::send(Lock& lock, int target, Message message, bool is_store, std::uint64_t reply_id) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, target));
  await_credit(lock, peer(target));
  return send_now(target, std::move(message), is_store, reply_id);
}

Status Client::send_now(int target, Message message, bool is_store, std::uint64_t reply_id) {
  ARMCI_RETURN_IF_ERROR(reach(target));
  Peer& of = peer(target);
  ARMCI_RETURN_IF_ERROR(check_way(target));
  const std::uint64_t sequence = ++of.requests;
  const std::uint64_t last_store = of.last_store;
  ++unexecuted_;
  if (is_store) of.last_store = sequence;
  Operation* const operation = operations_.begin_part("ucp_am_send_nbx", target);
  auto* const outgoing = new Outgoing{{process_, 0, sequence, reply_id}, std::move(message), operation, this};
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // The data are a copy already, so a rendezvous would save nothing.
  param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
  param.user_data = outgoing;
  param.cb.send = [](void* request, ucs_status_t status, void* sent) {
    const std::unique_ptr<Outgoing> outgoing(static_cast<Outgoing*>(sent));
    Operation* const operation = outgoing->operation;
    if (status != UCS_OK) outgoing->client->lose(operation->peer, status);
    outgoing->client->buffers_.give_back(std::move(outgoing->message));
    operation->owner->end_part(operation, UCS_OK);
    ucp_request_free(request);
  };
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(of.endpoint, kRequestMessage, &outgoing->prefix, sizeof outgoing->prefix,
                      outgoing->message.bytes.get(), outgoing->message.length, &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return kSuccess;
  buffers_.give_back(std::move(outgoing->message));
  delete outgoing;
  if (request != nullptr) {
    // The message was not sent, so its sequence number is free again.
    --of.requests;
    --unexecuted_;
    of.last_store = last_store;
  }
  return begun_part(request, operation);
}

// A request was not sent. The server waits for it before it executes later ones, so no later request completes.
void Client::lose(int target, ucs_status_t status) {
  Peer& of = peer(target);
  if (of.lost == UCS_OK) of.lost = status;
  std::erase_if(replies_, [&](const auto& one) {
    Operation* const operation = one.second.operation;
    if (operation->peer != target) return false;
    operations_.end_part(operation, status);
    return true;
  });
}

Status Client::check_way(int target) {
  const ucs_status_t status = peer(target).lost;
  return status == UCS_OK ? kSuccess : fail_ucs(status, "ucp_am_send_nbx", target);
}

// --- batches

std::size_t Client::batch_bytes(std::size_t message_bytes) {
  return std::min(sizeof(RequestHeader) + message_bytes, kBatchBytes);
}

std::size_t Client::small_bytes_max(std::size_t message_bytes) {
  return (batch_bytes(message_bytes) - sizeof(RequestHeader) - sizeof(server::BatchEntry)) / 8 * 8;
}

Status Client::coalesce(Lock& lock, int target, std::uint64_t address, const void* local, std::size_t bytes) {
  const std::size_t limit = batch_bytes(ways_.message_bytes);
  server::Batch<Buffer>& batch = peer(target).batch;
  // Other threads may fill the batch again while this one waits for a credit.
  while (!batch.fits(bytes, limit)) ARMCI_RETURN_IF_ERROR(send_batch(lock, target));
  if (batch.empty()) {
    batched_.push_back(target);
    batch.message = buffers_.take(limit).bytes;
  }
  batch.add(address, local, bytes);
  request_progress();
  return kSuccess;
}

// Waits for a credit before it takes the batch, so that the batch keeps its order among the requests.
Status Client::send_batch(Lock& lock, int target) {
  Peer& of = peer(target);
  if (of.batch.empty()) return kSuccess;
  await_credit(lock, of);
  // Another thread may have sent it meanwhile.
  return of.batch.empty() ? kSuccess : send_batch_now(target, server::put_header());
}

Status Client::send_batch_now(int target, RequestHeader header) {
  server::Batch<Buffer>& batch = peer(target).batch;
  header.origin = process_;
  const std::size_t length = batch.complete(header);
  Message message{std::move(batch.message), length};
  std::erase(batched_, target);
  const Status sent = send_now(target, std::move(message), true, 0);
  if (!sent.ok()) peer(target).refused = true;  // its puts are lost: the next flush fails
  return sent;
}

void Client::send_old_batches() {
  for (std::size_t i = 0; i < batched_.size();) {
    const int target = batched_[i];
    const bool old = std::exchange(peer(target).batch.is_unchanged, true);
    if (!old || !has_credit(peer(target))) {
      ++i;
    } else if (!send_batch_now(target, server::put_header()).ok()) {
      print_failure("a batch of puts", last_cause());
    }
  }
}

// --- replies

// Sends a request whose reply ends a part of `whole`.
Status Client::send_request(Lock& lock, Operation* whole, int target, Message message, PendingReply reply) {
  await_part_slot(lock);
  const std::uint64_t name = ++last_reply_;
  const bool is_atomic = reply.value != nullptr;
  operations_.add_part(whole);
  reply.operation = whole;
  replies_.emplace(name, std::move(reply));
  const Status sent = send(lock, target, std::move(message), is_atomic, name);
  if (!sent.ok() && replies_.erase(name) > 0) operations_.end_part(whole, UCS_OK);
  return sent;
}

ucs_status_t Client::on_reply(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* param) {
  ReplyPrefix prefix{};
  auto* const client = static_cast<Client*>(self);
  if (read_prefix(header, header_bytes, *param, &prefix) && prefix.server < client->peers_.size()) {
    client->take_reply(prefix, data, bytes);
  }
  return UCS_OK;
}

void Client::take_reply(const ReplyPrefix& prefix, const void* data, std::size_t bytes) {
  Peer& of = peer(static_cast<int>(prefix.server));
  // Replies may overtake each other.
  if (prefix.executed > of.executed) unexecuted_ -= prefix.executed - std::exchange(of.executed, prefix.executed);
  // A thread that waits for a reply gets the failure with it.
  if (prefix.failed != 0 && prefix.reply_id == 0) of.refused = true;
  const auto found = replies_.find(prefix.reply_id);
  if (found == replies_.end()) return;
  PendingReply reply = std::move(found->second);
  replies_.erase(found);
  if (prefix.failed != 0 || bytes != reply.bytes) {
    operations_.end_part(reply.operation, UCS_ERR_REJECTED);
    return;
  }
  if (reply.value != nullptr) *reply.value = prefix.value;
  if (reply.unpack) reply.unpack(static_cast<const char*>(data));
  operations_.end_part(reply.operation, UCS_OK);
}

Status Client::atomic(int target, RequestHeader header, std::uint64_t* before) {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(order_request(lock, target));
  header.origin = process_;
  header.tag = server::kFirstTag;
  Message message = buffers_.take(sizeof header);
  std::memcpy(message.bytes.get(), &header, sizeof header);
  Operation* const whole = operations_.begin("an atomic", target);
  std::uint64_t value = 0;
  const Status sent = send_request(lock, whole, target, std::move(message), {nullptr, &value, 0, {}});
  ARMCI_RETURN_IF_ERROR(finish(lock, whole, sent, nullptr));
  *before = value;
  return kSuccess;
}

// --- stores

Status Client::add(int target, RequestHeader header, void* remote, const void* local, std::size_t bytes) {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(order_request(lock, target));
  return store_run(lock, target, header, static_cast<char*>(remote), static_cast<const char*>(local), bytes);
}

Status Client::add_rows(int target, RequestHeader header, const Rows& rows) {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(order_request(lock, target));
  return store_rows(lock, target, header, rows);
}

Status Client::put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                          const node::Signal& signal) {
  if (bytes > ways_.message_bytes) {
    ARMCI_RETURN_IF_ERROR(put(target, remote, local, bytes, nullptr));
    bytes = 0;
  }
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(order_request(lock, target.process));
  RequestHeader header = server::signal_header(signal);
  header.origin = process_;
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  if (!peer(target.process).batch.empty() && bytes <= ways_.small_bytes) {
    if (bytes > 0) ARMCI_RETURN_IF_ERROR(coalesce(lock, target.process, header.address, local, bytes));
    bytes = 0;
    await_credit(lock, peer(target.process));
    // Another thread may have sent it meanwhile.
    if (!peer(target.process).batch.empty()) {
      const Status sent = send_batch_now(target.process, header);
      request_progress();
      return sent;
    }
  }
  header.bytes = bytes;
  Message message = buffers_.take(sizeof header + bytes);
  node::copy(server::compose(header, {}, message.bytes.get()), local, bytes);
  ARMCI_RETURN_IF_ERROR(send(lock, target.process, std::move(message), true, 0));
  request_progress();
  return kSuccess;
}

// Without gaps, in pieces that end between elements, wherever the first one begins.
Status Client::store_run(Lock& lock, int target, RequestHeader header, char* remote, const char* local,
                         std::size_t bytes) {
  const std::size_t bytes_max = ways_.message_bytes / server::kElementBytesMax * server::kElementBytesMax;
  header.form = server::Form::kContiguous;
  header.origin = process_;
  while (bytes > 0) {
    const std::size_t odd =
        header.kind == server::RequestKind::kPut ? reinterpret_cast<std::uintptr_t>(remote) % sizeof(std::uint64_t) : 0;
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = std::min(bytes, bytes_max - odd);
    Message message = buffers_.take(sizeof header + header.bytes);
    node::copy(server::compose(header, {}, message.bytes.get()), local, header.bytes);
    ARMCI_RETURN_IF_ERROR(send(lock, target, std::move(message), true, 0));
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  request_progress();
  return kSuccess;
}

// Packs into each request as many rows as fit.
Status Client::store_rows(Lock& lock, int target, RequestHeader header, const Rows& rows) {
  const std::size_t fitting = rows.fitting(ways_.message_bytes, rows.bytes());
  Status status;
  if (fitting == 0) {
    rows.visit(0, rows.count(), [&](const char* local, char* remote) {
      if (status.ok()) status = store_run(lock, target, header, remote, local, rows.bytes());
    });
    return status;
  }
  header.origin = process_;
  for (std::size_t first = 0; first < rows.count() && status.ok();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    Message message = buffers_.take(sizeof header + rows.place_bytes(now) + now * rows.bytes());
    char* data = rows.describe(first, now, header, message.bytes.get());
    rows.visit(first, now, [&](const char* local, const char*) {
      node::copy(data, local, rows.bytes());
      data += rows.bytes();
    });
    status = send(lock, target, std::move(message), true, 0);
    first += now;
  }
  request_progress();
  return status;
}

// --- gets

Status Client::fetch_run(Lock& lock, Operation* whole, int target, const char* remote, char* local, std::size_t bytes) {
  RequestHeader header;
  header.kind = server::RequestKind::kGet;
  header.tag = server::kFirstTag;
  header.origin = process_;
  while (bytes > 0) {
    const std::size_t odd = reinterpret_cast<std::uintptr_t>(remote) % sizeof(std::uint64_t);
    const std::size_t now =
        std::min(bytes, ways_.message_bytes / server::kElementBytesMax * server::kElementBytesMax - odd);
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = now;
    Message message = buffers_.take(sizeof header);
    std::memcpy(message.bytes.get(), &header, sizeof header);
    const auto land = [=](const char* data) { node::copy(local, data, now); };
    ARMCI_RETURN_IF_ERROR(send_request(lock, whole, target, std::move(message), {nullptr, nullptr, now, land}));
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

// Requests as many rows as fit into a request and into a reply.
Status Client::fetch_rows(Lock& lock, Operation* whole, int target, const Rows& rows) {
  RequestHeader header;
  header.kind = server::RequestKind::kGet;
  header.tag = server::kFirstTag;
  header.origin = process_;
  const std::size_t fitting = std::min(ways_.message_bytes / rows.bytes(), rows.fitting(ways_.message_bytes, 0));
  if (fitting == 0) {
    Status status;
    rows.visit(0, rows.count(), [&](char* local, const char* remote) {
      if (status.ok()) status = fetch_run(lock, whole, target, remote, local, rows.bytes());
    });
    return status;
  }
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    Message message = buffers_.take(sizeof header + rows.place_bytes(now));
    rows.describe(first, now, header, message.bytes.get());
    std::vector<char*> places;
    rows.visit(first, now, [&](char* local, const char*) { places.push_back(local); });
    const std::size_t each = rows.bytes();
    const auto land = [places = std::move(places), each](const char* data) {
      for (char* const place : places) {
        node::copy(place, data, each);
        data += each;
      }
    };
    ARMCI_RETURN_IF_ERROR(send_request(lock, whole, target, std::move(message), {nullptr, nullptr, now * each, land}));
    first += now;
  }
  return kSuccess;
}

}  // namespace armci::ucx
