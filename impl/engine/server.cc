// Requests and their execution.
#include "impl/engine/server.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/engine/execute.h"

namespace armci::engine {

namespace {

Status foreign(const char* what, std::uint64_t value, int from) {
  return fail(Code::kLayerBelow, nullptr,
              "the server refused a request with %s = %llu from process or server %d; link all processes with the same "
              "library",
              what, static_cast<unsigned long long>(value), from);
}

}  // namespace

Status ServerWire::reply_data(int, std::uint32_t, std::span<const char>, Chunk*) {
  return fail(Code::kUnsupported, nullptr, "the wire sends no long data");
}

Status ServerWire::receive_data(int, std::uint32_t, std::span<char>, Chunk*) {
  return fail(Code::kUnsupported, nullptr, "the wire receives no long data");
}

Server::Server(ServerWire* wire, const Routes& routes, int number, const ServerOptions& options)
    : wire_(*wire),
      routes_(routes),
      number_(number),
      options_(options),
      is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }),
      bounds_{std::max(options.chunk_bytes, wire->reply_bytes()), options.chunk_bytes},
      forwarder_(wire, routes.servers(), options.forwards),
      origins_(static_cast<std::size_t>(routes.processes())),
      neighbours_(static_cast<std::size_t>(routes.servers())) {
  wire->report_to(this);
}

Server::~Server() { stop(); }

Status Server::open() {
  try {
    for (int i = 0; i < options_.chunks; ++i) {
      chunks_.push_back(std::make_unique<Chunk>());
      chunks_.back()->data.reset(new char[sizeof(ReplyHeader) + options_.chunk_bytes]);
      free_chunks_.push_back(chunks_.back().get());
    }
  } catch (const std::bad_alloc&) {
    return fail(Code::kMemory, nullptr,
                "the server has no memory for %d chunks of %zu bytes; set ARMCI_SERVER_CHUNKS or "
                "ARMCI_SERVER_CHUNK_BYTES lower",
                options_.chunks, options_.chunk_bytes);
  }
  return wire_.open();
}

std::size_t Server::buffer_bytes() const {
  return wire_.buffer_bytes() + chunks_.size() * (sizeof(ReplyHeader) + options_.chunk_bytes);
}

// --- requests on their way to be executed

Status Server::check_origin(const Arrival& arrival, const RequestHeader& header) const {
  if (header.origin >= origins_.size()) return foreign("origin", header.origin, arrival.from);
  if (header.server >= neighbours_.size()) return foreign("server", header.server, arrival.from);
  if (arrival.forwarded) {
    const bool known = arrival.from >= 0 && static_cast<std::size_t>(arrival.from) < neighbours_.size();
    const bool here = header.server == static_cast<std::uint32_t>(number_);
    return known && here ? kSuccess : foreign("server", header.server, arrival.from);
  }
  if (header.origin != static_cast<std::uint32_t>(arrival.from)) return foreign("origin", header.origin, arrival.from);
  const int entry = routes_.entry(arrival.from, static_cast<int>(header.server));
  return entry == number_ ? kSuccess : foreign("server", header.server, arrival.from);
}

// Of one sender, the server takes requests in the order of their numbers.
Status Server::arrived(const Arrival& arrival) {
  RequestHeader header;
  ARMCI_RETURN_IF_ERROR(read_header(arrival.message, &header));
  ARMCI_RETURN_IF_ERROR(check_origin(arrival, header));
  if (arrival.forwarded) return take_forwarded(arrival, header.forward_number);
  return take_next(&origin(header.origin).stream, arrival, header.sequence);
}

Status Server::take_forwarded(const Arrival& arrival, std::uint32_t forward_number) {
  Stream& stream = neighbours_[static_cast<std::size_t>(arrival.from)];
  return take_next(&stream, arrival, forward_number_near(stream.next, forward_number));
}

Status Server::take_next(Stream* stream, const Arrival& arrival, std::uint64_t number) {
  if (number == stream->next) {
    ARMCI_RETURN_IF_ERROR(take(arrival, false));
    ++stream->next;
    return take_early(stream);
  }
  if (number < stream->next || wire_.keeps_order()) return foreign("sequence", number, arrival.from);
  Arrival kept = arrival;
  ARMCI_RETURN_IF_ERROR(wire_.keep(&kept));
  if (!stream->early.emplace(number, kept).second) return foreign("sequence", number, arrival.from);
  return kSuccess;
}

Status Server::take_early(Stream* stream) {
  for (auto next = stream->early.begin(); next != stream->early.end() && next->first == stream->next;
       next = stream->early.begin()) {
    const Arrival arrival = next->second;
    stream->early.erase(next);
    ARMCI_RETURN_IF_ERROR(take(arrival, true));
    ++stream->next;
  }
  return kSuccess;
}

Status Server::take(const Arrival& arrival, bool is_kept) {
  Work work;
  work.arrival = arrival;
  std::memcpy(&work.request.header, arrival.message.data(), sizeof work.request.header);
  const RequestHeader& header = work.request.header;
  if (!arrival.forwarded) {
    work.number = header.sequence;
    Origin& from = origin(header.origin);
    from.open.push_back(RequestState::kOpen);
    if (header.wants_count()) from.last_wanted = header.sequence;
    list_if_due(header.origin);
  }
  if (header.server == static_cast<std::uint32_t>(number_)) return accept(&work, is_kept);
  if (!is_kept) ARMCI_RETURN_IF_ERROR(wire_.keep(&work.arrival));
  return forwarder_.forward(static_cast<int>(header.server), {work.arrival, header.origin, work.number});
}

// Executes the request at once, or lets it wait for a chunk or behind another one.
Status Server::accept(Work* work, bool is_kept) {
  Origin& from = origin(work->request.header.origin);
  Status valid = decode(work->arrival.message, is_inside_, bounds_, &work->request);
  if (!valid.ok()) {
    // Ends the job: the origin would take the refusal for data.
    if (work->request.data_follow() || work->request.data_alone())
      return note(valid, "from process %u", work->request.header.origin);
    return refuse(work, valid);
  }
  const bool wants_chunk = needs_chunk(work->request);
  if (!wants_chunk && from.queue.empty()) return execute(work);
  if (!is_kept) {
    ARMCI_RETURN_IF_ERROR(wire_.keep(&work->arrival));
    // The request points into the message, which may have moved.
    (void)decode(work->arrival.message, is_inside_, bounds_, &work->request);
  }
  from.queue.push_back(std::move(*work));
  if (!wants_chunk) return kSuccess;
  wants_chunk_.push_back(&from.queue.back());
  return give_chunks();
}

bool Server::needs_chunk(const Request& request) const {
  if (request.data_follow()) return true;
  if (request.header.kind != RequestKind::kGet || request.is_in_place()) return false;
  // Data that come alone have no place for a header in a message of the wire.
  return request.data_alone() || request.total_bytes() > wire_.reply_bytes();
}

bool Server::is_ready(const Work& work) { return work.request.data_follow() ? work.received : work.chunk != nullptr; }

Status Server::give_chunks() {
  while (!free_chunks_.empty() && !wants_chunk_.empty()) {
    Work* const work = wants_chunk_.front();
    wants_chunk_.pop_front();
    work->chunk = free_chunks_.back();
    free_chunks_.pop_back();
    const RequestHeader& header = work->request.header;
    if (work->request.data_follow()) {
      receiving_[work->chunk] = work;
      ARMCI_RETURN_IF_ERROR(wire_.receive_data(static_cast<int>(header.origin), header.tag,
                                               {work->chunk->data.get(), work->request.total_bytes()}, work->chunk));
    } else {
      ARMCI_RETURN_IF_ERROR(run_queue(&origin(header.origin)));
    }
  }
  return kSuccess;
}

Status Server::received(Chunk* chunk) {
  const auto found = receiving_.find(chunk);
  Work* const work = found->second;
  receiving_.erase(found);
  work->received = true;
  ARMCI_RETURN_IF_ERROR(run_queue(&origin(work->request.header.origin)));
  return give_chunks();
}

Status Server::sent(Chunk* chunk) {
  free_chunks_.push_back(chunk);
  return give_chunks();
}

Status Server::run_queue(Origin* from) {
  while (!from->queue.empty()) {
    if (needs_chunk(from->queue.front().request) && !is_ready(from->queue.front())) break;
    Work next = std::move(from->queue.front());
    from->queue.pop_front();
    ARMCI_RETURN_IF_ERROR(execute(&next));
  }
  return kSuccess;
}

Status Server::acknowledged(int server, std::uint32_t acknowledgement) {
  Forwarder::Done done;
  ARMCI_RETURN_IF_ERROR(forwarder_.acknowledged(server, acknowledgement, &done));
  ARMCI_RETURN_IF_ERROR(wire_.release(done.arrival));
  executed(done.origin, done.number, done.is_refused ? RequestState::kRefusedStore : RequestState::kExecuted);
  if (!wire_.replies_to_each()) return kSuccess;
  return reply(done.origin, begin_reply(done.origin, 0), wire_.take_message(sizeof(ReplyHeader)));
}

// --- execution

Status Server::execute(Work* work) {
  const Request& request = work->request;
  switch (request.header.kind) {
    case RequestKind::kPut:
    case RequestKind::kAccumulate:
    case RequestKind::kSignal:
      engine::store(request, work->chunk != nullptr ? work->chunk->data.get() : request.data.data());
      if (work->chunk != nullptr) free_chunks_.push_back(work->chunk);
      return end_store(work);
    case RequestKind::kGet:
    case RequestKind::kBatch:
      return reply_get(work);
    case RequestKind::kAtomic:
      return reply_value(work, execute_atomic(request.header));
    case RequestKind::kGetCount:
      return end_store(work);
    case RequestKind::kDisconnect:
      return reply_value(work, kLastReply);
  }
  return kSuccess;
}

// Without data for the origin: the count may come later.
Status Server::end_store(Work* work) {
  const std::uint32_t process = work->request.header.origin;
  ARMCI_RETURN_IF_ERROR(end(work));
  if (!wire_.replies_to_each()) return kSuccess;
  return reply(process, begin_reply(process, 0), wire_.take_message(sizeof(ReplyHeader)));
}

// The request's buffer is free before its reply may let the process send another one.
Status Server::reply_get(Work* work) {
  const RequestHeader header = work->request.header;
  if (work->request.is_in_place()) return reply_in_place(work);
  if (work->chunk != nullptr) return reply_chunk(work);
  if (header.kind == RequestKind::kBatch && header.tag == 0) {
    const Status done = execute_batch(work->request, is_inside_, nullptr);
    return done.ok() ? end_store(work) : refuse(work, done);
  }
  Message message = wire_.take_message(sizeof(ReplyHeader) + work->request.total_bytes());
  char* const data = message.bytes.get() + sizeof(ReplyHeader);
  if (header.kind == RequestKind::kGet) {
    (void)collect(work->request, data);
  } else if (const Status done = execute_batch(work->request, is_inside_, data); !done.ok()) {
    return refuse(work, done);
  }
  ARMCI_RETURN_IF_ERROR(end(work));
  return reply(header.origin, begin_reply(header.origin, header.tag), std::move(message));
}

// From the memory of the region, without a copy.
Status Server::reply_in_place(Work* work) {
  const RequestHeader header = work->request.header;
  std::atomic_thread_fence(std::memory_order_acquire);
  ARMCI_RETURN_IF_ERROR(end(work));
  return wire_.reply_data(static_cast<int>(header.origin), header.tag, {pointer(header.address), header.bytes},
                          nullptr);
}

Status Server::reply_chunk(Work* work) {
  const RequestHeader header = work->request.header;
  const bool alone = work->request.data_alone();
  char* const message = work->chunk->data.get();
  const char* const end_of_data = collect(work->request, message + sizeof(ReplyHeader));
  Chunk* const chunk = work->chunk;
  ARMCI_RETURN_IF_ERROR(end(work));
  // The header carries the count, so there is none unless it is sent.
  if (!alone) {
    const ReplyHeader head = begin_reply(header.origin, header.tag);
    std::memcpy(message, &head, sizeof head);
  }
  const char* const first = alone ? message + sizeof(ReplyHeader) : message;
  return wire_.reply_data(static_cast<int>(header.origin), header.tag,
                          {first, static_cast<std::size_t>(end_of_data - first)}, chunk);
}

Status Server::reply_value(Work* work, std::uint64_t value) {
  const RequestHeader header = work->request.header;
  const bool is_last = header.kind == RequestKind::kDisconnect;
  ARMCI_RETURN_IF_ERROR(end(work));
  ReplyHeader head = begin_reply(header.origin, is_last ? 0 : header.tag);
  head.value = value;
  return reply(header.origin, head, wire_.take_message(sizeof head));
}

// The origin gets the failure. The server prints the cause.
Status Server::refuse(Work* work, const Status& why) {
  const RequestHeader header = work->request.header;
  (void)note(why, "from process %u", header.origin);
  print_failure("server", last_cause());
  const bool has_stores = header.is_store() || header.kind == RequestKind::kBatch;
  ARMCI_RETURN_IF_ERROR(end(work, has_stores ? RequestState::kRefusedStore : RequestState::kExecuted));
  ReplyHeader head = begin_reply(header.origin, header.is_store() ? 0 : header.tag);
  head.refused = 1;
  if (has_stores) head.value = header.sequence + kLastReply;
  return reply(header.origin, head, wire_.take_message(sizeof head));
}

// Memory ordering: as begin_reply(), for the count that the forwarding server reports.
Status Server::end(Work* work, RequestState state) {
  const RequestHeader header = work->request.header;
  const Arrival arrival = work->arrival;
  ARMCI_RETURN_IF_ERROR(wire_.release(arrival));
  if (arrival.forwarded) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return wire_.acknowledge(arrival.from,
                             header.forward_number | (state == RequestState::kRefusedStore ? kAcknowledgesRefusal : 0));
  }
  executed(header.origin, work->number, state);
  return kSuccess;
}

// --- counts

// A count is due if a request wants it, or if requests with counts on demand hold three quarters of the credits.
bool Server::is_due(const Origin& of) const {
  const std::uint64_t unreported = of.executed - of.reported;
  return unreported > 0 && (of.last_wanted > of.reported || unreported >= options_.credits - options_.credits / 4);
}

void Server::executed(std::uint32_t process, std::uint64_t number, RequestState state) {
  Origin& from = origin(process);
  from.open[number - from.executed - 1] = state;
  while (!from.open.empty() && from.open.front() != RequestState::kOpen) {
    if (from.open.front() == RequestState::kRefusedStore) ++from.refusals;
    from.open.pop_front();
    ++from.executed;
  }
  list_if_due(process);
}

void Server::list_if_due(std::uint32_t process) {
  Origin& from = origin(process);
  if (!is_due(from)) return;
  if (!std::exchange(from.is_unreported, true)) unreported_.push_back(process);
  // The process may wait for credits.
  if (from.executed - from.reported >= options_.credits / 2) busy_passes_ = kBusyPassesMax;
}

// The header carries the count.
//
// Memory ordering: the stores are visible to all processes of the node before the count is visible to any [FENCE-1].
ReplyHeader Server::begin_reply(std::uint32_t process, std::uint32_t tag) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Origin& to = origin(process);
  to.reported = to.executed;
  ReplyHeader header;
  header.executed = to.executed;
  header.tag = tag;
  header.server = static_cast<std::uint32_t>(number_);
  header.refusals = to.refusals;
  return header;
}

Status Server::reply(std::uint32_t process, const ReplyHeader& header, Message message) {
  std::memcpy(message.bytes.get(), &header, sizeof header);
  return wire_.reply(static_cast<int>(process), header.tag, std::move(message));
}

// Sends the counts that no reply has carried. A pass that finds no request calls this: so the message does not keep the
// next request waiting, and counts many requests at once.
Status Server::report_counts() {
  for (const std::uint32_t process : unreported_) {
    Origin& to = origin(process);
    to.is_unreported = false;
    if (!is_due(to)) continue;
    ARMCI_RETURN_IF_ERROR(reply(process, begin_reply(process, 0), wire_.take_message(sizeof(ReplyHeader))));
  }
  unreported_.clear();
  return kSuccess;
}

}  // namespace armci::engine
