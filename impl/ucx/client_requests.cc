// Requests: what the processes of other nodes are asked to do, and their answers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/server/compose.h"
#include "impl/shmem/copy.h"
#include "impl/ucx/client.h"

namespace armci::ucx {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;
using server::Form;
using server::RequestHeader;
using server::Rows;

namespace {

// Pieces end between elements of every type.
constexpr std::size_t kElementBytesMax = 16;

// Rows without gaps on either side are one run; `bytes` is 0 for others.
struct Run {
  char* local = nullptr;
  char* remote = nullptr;
  std::size_t bytes = 0;
};

Run run_of(const Rows& rows) {
  Run run;
  if (!rows.local_is_dense() || !rows.remote_is_dense()) return run;
  rows.visit(0, 1, [&](char* local, char* remote) { run = {local, remote, rows.bytes() * rows.count()}; });
  return run;
}

RequestHeader get_header() {
  RequestHeader header;
  header.kind = server::RequestKind::kGet;
  return header;
}

}  // namespace

// --- the life of a request

Status Client::new_ask(Inside* inside, int process, const Mark& mark, std::size_t bytes, Ask** made) {
  Peer& other = peer(process);
  wait_until(inside, [&] { return other.unanswered.size() < bounds_.requests || other.broken; });
  ARMCI_RETURN_IF_ERROR(check(process));
  if (free_asks_.empty()) {
    free_asks_.push_back(asks_.size());
    asks_.emplace_back();
  }
  const std::size_t index = free_asks_.back();
  free_asks_.pop_back();
  Ask& ask = asks_[index];
  const std::uint32_t serial = ask.serial;
  ask = Ask{};
  ask.serial = serial;
  ask.taken = true;
  ask.client = this;
  ask.target = process;
  ask.tag.token = std::uint64_t{serial} << 32 | index;
  ask.mark = mark;
  ask.message.reset(new char[bytes]);
  ++open_asks_;
  *made = &ask;
  return kSuccess;
}

Status Client::send(Ask* ask, std::size_t bytes) {
  Peer& other = peer(ask->target);
  ask->number = ++other.asked;
  other.unanswered.insert(ask->number);
  if (!ask->mark.none()) operations_.add_part(ask->mark);
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  how.cb.send = asked;
  how.user_data = ask;
  how.flags = UCP_AM_SEND_FLAG_REPLY;
  void* const request =
      ucp_am_send_nbx(other.endpoint, kRequest, &ask->tag, sizeof ask->tag, ask->message.get(), bytes, &how);
  if (UCS_PTR_IS_PTR(request)) return kSuccess;
  ask->sent = true;
  if (request == nullptr) return kSuccess;
  const Status status = fail_ucx(UCS_PTR_STATUS(request), "ucp_am_send_nbx", ask->target);
  // The caller learns it now: nobody has to be told later.
  const Mark mark = std::exchange(ask->mark, Mark{});
  if (!mark.none()) operations_.end_part(mark);
  finish(ask, false, "");
  return status;
}

void Client::asked(void* request, ucs_status_t status, void* ask) {
  auto* const one = static_cast<Ask*>(ask);
  ucp_request_free(request);
  one->sent = true;
  if (one->answered) {
    one->client->release(one);
  } else if (status != UCS_OK) {
    one->client->finish(one, true, ucs_status_string(status));
  }
}

Client::Ask* Client::find(std::uint64_t token) {
  const std::size_t index = token & 0xffffffffu;
  if (index >= asks_.size()) return nullptr;
  Ask& ask = asks_[index];
  return ask.taken && !ask.answered && ask.serial == token >> 32 ? &ask : nullptr;
}

ucs_status_t Client::replied(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                             const ucp_am_recv_param_t* about) {
  auto* const client = static_cast<Client*>(self);
  ReplyTag tag;
  if (header_bytes != sizeof tag) return UCS_OK;
  std::memcpy(&tag, header, sizeof tag);
  Ask* const ask = client->find(tag.token);
  if (ask == nullptr) return UCS_OK;
  ask->reply = tag;
  if ((about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    client->place(ask, static_cast<const char*>(data), bytes);
    return UCS_OK;
  }
  char* to = ask->landing;
  if (to == nullptr || tag.failed != 0 || bytes != ask->bytes) {
    ask->packed.reset(new char[bytes]);
    to = ask->packed.get();
  }
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  how.cb.recv_am = landed;
  how.user_data = ask;
  void* const request = ucp_am_recv_data_nbx(client->worker_.get(), data, to, bytes, &how);
  if (!UCS_PTR_IS_ERR(request)) return UCS_INPROGRESS;
  client->finish(ask, true, ucs_status_string(UCS_PTR_STATUS(request)));
  return UCS_OK;
}

void Client::landed(void* request, ucs_status_t status, std::size_t bytes, void* ask) {
  auto* const one = static_cast<Ask*>(ask);
  ucp_request_free(request);
  if (status != UCS_OK) return one->client->finish(one, true, ucs_status_string(status));
  one->client->place(one, one->packed != nullptr ? one->packed.get() : one->landing, bytes);
}

// What an answer brought goes where it belongs.
void Client::place(Ask* ask, const char* data, std::size_t bytes) {
  if (ask->reply.failed != 0) return finish(ask, true, std::string(data, strnlen(data, bytes)));
  if (bytes != ask->bytes) return finish(ask, true, "an answer of another length than was asked for");
  if (ask->before != nullptr) *ask->before = ask->reply.value;
  if (ask->landing != nullptr && data != ask->landing) node::copy(ask->landing, data, bytes);
  for (char* const row : ask->rows) {
    node::copy(row, data, ask->row_bytes);
    data += ask->row_bytes;
  }
  finish(ask, false, "");
}

void Client::finish(Ask* ask, bool failed, const std::string& why) {
  Peer& other = peer(ask->target);
  ask->answered = true;
  other.unanswered.erase(ask->number);
  if (!ask->mark.none()) {
    operations_.end_part(ask->mark, failed, failed ? Failure{ask->target, why} : Failure{});
  } else if (failed) {
    other.failed_request = why;
  }
  if (ask->sent) release(ask);
}

// Its buffer is UCX's until it has been sent, which it may tell after the answer.
void Client::release(Ask* ask) {
  const std::size_t index = ask->tag.token & 0xffffffffu;
  ask->message.reset();
  ask->packed.reset();
  ask->rows.clear();
  ask->taken = false;
  ++ask->serial;
  free_asks_.push_back(index);
  --open_asks_;
}

// --- stores

// Without gaps, in pieces.
Status Client::store_run(Inside* inside, int process, RequestHeader header, char* remote, const char* local,
                         std::size_t bytes) {
  const std::size_t room = (bounds_.chunk_bytes - sizeof header) / kElementBytesMax * kElementBytesMax;
  header.form = Form::kContiguous;
  header.origin = static_cast<std::uint32_t>(process_);
  while (bytes > 0) {
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = std::min(bytes, room);
    Ask* ask = nullptr;
    ARMCI_RETURN_IF_ERROR(new_ask(inside, process, {}, sizeof header + header.bytes, &ask));
    node::copy(server::compose(header, {}, ask->message.get()), local, header.bytes);
    ARMCI_RETURN_IF_ERROR(send(ask, sizeof header + header.bytes));
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// As many rows as have room in each request.
Status Client::store_rows(Inside* inside, int process, RequestHeader header, const Rows& rows) {
  const std::size_t fitting = rows.fitting(bounds_.chunk_bytes - sizeof header, rows.bytes());
  header.origin = static_cast<std::uint32_t>(process_);
  if (fitting == 0) {
    Status status;
    rows.visit(0, rows.count(), [&](const char* local, char* remote) {
      if (status.ok()) status = store_run(inside, process, header, remote, local, rows.bytes());
    });
    return status;
  }
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    const std::size_t length = sizeof header + rows.place_bytes(now) + now * rows.bytes();
    Ask* ask = nullptr;
    ARMCI_RETURN_IF_ERROR(new_ask(inside, process, {}, length, &ask));
    char* data = rows.describe(first, now, header, ask->message.get());
    rows.visit(first, now, [&](const char* local, const char*) {
      node::copy(data, local, rows.bytes());
      data += rows.bytes();
    });
    ARMCI_RETURN_IF_ERROR(send(ask, length));
    first += now;
  }
  return kSuccess;
}

Status Client::put_rows(const Target& target, const Rows& rows, Mark* mark) {
  if (const Run run = run_of(rows); run.bytes > 0) {
    Mark made;
    ARMCI_RETURN_IF_ERROR(put(target, run.remote, run.local, run.bytes, &made));
    if (mark == nullptr) return wait(made);
    *mark = made;
    return kSuccess;
  }
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  if (rows.bytes() < bounds_.pack_bytes) return store_rows(&inside, target.process, server::put_header(), rows);
  const Mark made = operations_.begin();
  Status status;
  rows.visit(0, rows.count(), [&](const char* local, char* remote) {
    if (status.ok()) status = start_put(&inside, target, remote, local, rows.bytes(), made);
  });
  operations_.end_part(made);
  if (mark == nullptr || !status.ok()) {
    wait_until(&inside, [&] { return !operations_.is_under_way(made); });
    const Status ended = outcome(made);
    return status.ok() ? ended : status;
  }
  if (operations_.is_under_way(made)) *mark = made;
  return kSuccess;
}

Status Client::add_rows(const Target& target, const RequestHeader& header, const Rows& rows) {
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  if (const Run run = run_of(rows); run.bytes > 0) {
    return store_run(&inside, target.process, header, run.remote, run.local, run.bytes);
  }
  return store_rows(&inside, target.process, header, rows);
}

// --- gets and atomics

// In pieces.
Status Client::fetch_run(Inside* inside, int process, const char* remote, char* local, std::size_t bytes,
                         const Mark& mark) {
  const std::size_t room = bounds_.chunk_bytes / kElementBytesMax * kElementBytesMax;
  RequestHeader header = get_header();
  header.origin = static_cast<std::uint32_t>(process_);
  header.tag = server::kFirstTag;
  while (bytes > 0) {
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = std::min(bytes, room);
    Ask* ask = nullptr;
    ARMCI_RETURN_IF_ERROR(new_ask(inside, process, mark, sizeof header, &ask));
    ask->landing = local;
    ask->bytes = header.bytes;
    server::compose(header, {}, ask->message.get());
    ARMCI_RETURN_IF_ERROR(send(ask, sizeof header));
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// As many rows as have room in each answer.
Status Client::fetch_rows(Inside* inside, int process, const Rows& rows, const Mark& mark) {
  RequestHeader header = get_header();
  header.origin = static_cast<std::uint32_t>(process_);
  header.tag = server::kFirstTag;
  const std::size_t fitting =
      std::min(bounds_.chunk_bytes / rows.bytes(), rows.fitting(bounds_.chunk_bytes - sizeof header, 0));
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    const std::size_t length = sizeof header + rows.place_bytes(now);
    Ask* ask = nullptr;
    ARMCI_RETURN_IF_ERROR(new_ask(inside, process, mark, length, &ask));
    ask->bytes = now * rows.bytes();
    ask->row_bytes = rows.bytes();
    rows.visit(first, now, [&](char* local, const char*) { ask->rows.push_back(local); });
    rows.describe(first, now, header, ask->message.get());
    ARMCI_RETURN_IF_ERROR(send(ask, length));
    first += now;
  }
  return kSuccess;
}

Status Client::get_rows(const Target& target, const Rows& rows, Mark* mark) {
  if (const Run run = run_of(rows); run.bytes > 0) {
    Mark made;
    ARMCI_RETURN_IF_ERROR(get(target, run.remote, run.local, run.bytes, &made));
    if (mark == nullptr) return wait(made);
    *mark = made;
    return kSuccess;
  }
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  const Mark made = operations_.begin();
  Status status;
  if (rows.bytes() < bounds_.pack_bytes) {
    status = fetch_rows(&inside, target.process, rows, made);
  } else {
    rows.visit(0, rows.count(), [&](char* local, const char* remote) {
      if (status.ok()) status = start_get(&inside, target, remote, local, rows.bytes(), made);
    });
  }
  operations_.end_part(made);
  if (mark == nullptr || !status.ok()) {
    wait_until(&inside, [&] { return !operations_.is_under_way(made); });
    const Status ended = outcome(made);
    return status.ok() ? ended : status;
  }
  if (operations_.is_under_way(made)) *mark = made;
  return kSuccess;
}

Status Client::atomic(int target, const RequestHeader& wanted, std::uint64_t* before) {
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target));
  RequestHeader header = wanted;
  header.origin = static_cast<std::uint32_t>(process_);
  header.tag = server::kFirstTag;
  const Mark made = operations_.begin();
  Ask* ask = nullptr;
  Status status = new_ask(&inside, target, made, sizeof header, &ask);
  if (status.ok()) {
    ask->before = before;
    server::compose(header, {}, ask->message.get());
    status = send(ask, sizeof header);
  }
  operations_.end_part(made);
  wait_until(&inside, [&] { return !operations_.is_under_way(made); });
  const Status ended = outcome(made);
  return status.ok() ? ended : status;
}

}  // namespace armci::ucx
