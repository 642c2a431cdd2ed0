#include "impl/mpi-twosided/server.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/mpi-twosided/take_ended.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"
#include "impl/server/execute.h"

namespace armci::twosided {

Server::Server(const Comms& comms, ReceiveBuffers receive_buffers, const Routes& routes, std::vector<int> servers,
               int node, int wait_us)
    : comms_(comms),
      receive_buffers_(receive_buffers),
      routes_(routes),
      servers_(std::move(servers)),
      node_(node),
      wait_us_(wait_us),
      is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }),
      requests_(comms.requests, kRequestTag, receive_buffers.bytes),
      forwarded_(comms.forwards, kRequestTag, receive_buffers.bytes),
      forwarder_(comms.forwards, receive_buffers.forwards) {}

Server::~Server() { stop(); }

Status Server::open() {
  const std::vector<int> neighbours = routes_.neighbours(node_);
  origins_.resize(static_cast<std::size_t>(routes_.processes()));
  const std::size_t buffers = routes_.clients(node_).size() * static_cast<std::size_t>(receive_buffers_.credits);
  const std::size_t forwards = neighbours.size() * static_cast<std::size_t>(receive_buffers_.forwards);
  ARMCI_RETURN_IF_ERROR(requests_.open(buffers, "requests"));
  ARMCI_RETURN_IF_ERROR(forwarded_.open(forwards, "forwarded requests"));
  ARMCI_RETURN_IF_ERROR(forwarder_.open(servers_, neighbours));
  try {
    for (int i = 0; i < receive_buffers_.chunks; ++i) {
      chunks_.push_back(std::make_unique<Chunk>());
      chunks_.back()->data.reset(new char[sizeof(ReplyHeader) + receive_buffers_.chunk_bytes]);
      free_chunks_.push_back(chunks_.back().get());
    }
  } catch (const std::bad_alloc&) {
    return fail(Code::kMemory, nullptr,
                "the server has no memory for %d chunks of %zu bytes; set ARMCI_SERVER_CHUNKS or "
                "ARMCI_SERVER_CHUNK_BYTES lower",
                receive_buffers_.chunks, receive_buffers_.chunk_bytes);
  }
  return kSuccess;
}

Status Server::start(std::function<bool()> progress) {
  progress_ = std::move(progress);
  return runtime::start_background_thread(
      "armci-server", [this] { run([this] { return stopping_.load(std::memory_order_relaxed); }); }, &thread_);
}

void Server::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  event_count_.notify();
  if (thread_.joinable()) thread_.join();
  requests_.close();
  forwarded_.close();
  forwarder_.close();
  for (Sending& sending : sending_) MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
  sending_.clear();
}

std::size_t Server::buffer_bytes() const {
  return requests_.memory_bytes() + forwarded_.memory_bytes() +
         chunks_.size() * (sizeof(ReplyHeader) + receive_buffers_.chunk_bytes) +
         replies_[0].load(std::memory_order_relaxed) * sizeof(ReplyHeader) +
         replies_[1].load(std::memory_order_relaxed) * (sizeof(ReplyHeader) + receive_buffers_.reply_bytes());
}

void Server::run(const std::function<bool()>& over) {
  constexpr int kActiveSleepUs = 50;
  constexpr std::int64_t kHelpedSleepUs = server::Passes::kHelpedSleepUs;
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds; short sleeps are to be short
  node::Waiter idleness(node::WaitKind::kRequests, wait_us_);
  node::Waiter activity(node::WaitKind::kRequests, std::min(wait_us_, kActiveSleepUs));
  bool will_block = false;
  bool active = false;
  while (!over()) {
    const std::uint32_t seen = will_block ? event_count_.prepare_wait() : event_count_.count();
    const bool busy = passes_.try_pass([this] { return pass(); });
    const bool streaming = streaming_.load(std::memory_order_relaxed);
    const bool was_active = std::exchange(active, (progress_ && progress_()) || streaming);
    if (active && !was_active) activity.restart();
    if (busy || active) event_count_.cancel_wait();
    if (busy) {
      idleness.restart();
      activity.restart();
      will_block = false;
      passes_.work_found();
      continue;
    }
    const std::int64_t us = passes_.is_helped() ? kHelpedSleepUs : (active ? activity : idleness).pause_us(streaming);
    // Polls once more after prepare_wait(): from there on a thread that issues an operation notifies this one.
    if (us > 0 && (active || will_block)) {
      passes_.set_resting(us > kHelpedSleepUs);
      event_count_.wait(seen, us);
      passes_.set_resting(false);
    }
    will_block = us > 0 && !active;
  }
}

// The server thread returns the credits when the wait is over.
void Server::serve_while_waiting() {
  passes_.pass_while_waiting([this] { return pass(); }, [this] { event_count_.notify(); });
}

bool Server::pass() {
  bool busy = false;
  const Status status = step(&busy);
  streaming_.store(!sending_.empty() || !receiving_.empty(), std::memory_order_relaxed);
  // The origin of the request would hang: it waits for the reply.
  if (!status.ok()) die_of_failure("server");
  return busy;
}

Status Server::step(bool* busy) {
  *busy = false;
  ARMCI_RETURN_IF_ERROR(take_requests(&requests_, false, busy));
  ARMCI_RETURN_IF_ERROR(take_requests(&forwarded_, true, busy));
  ARMCI_RETURN_IF_ERROR(receive_chunks(busy));
  ARMCI_RETURN_IF_ERROR(take_acks(busy));
  if (!*busy || ++busy_passes_ >= kBusyPassesMax) {
    busy_passes_ = 0;
    ARMCI_RETURN_IF_ERROR(return_credits());
  }
  return collect_sent();
}

// --- requests on their way to be executed

Status Server::take_requests(MessagePool* pool, bool forwarded, bool* busy) {
  constexpr int kRequestsMax = 64;  // before the other queues are polled
  for (int i = 0; i < kRequestsMax; ++i) {
    MessagePool::Message message;
    ARMCI_RETURN_IF_ERROR(pool->take(&message));
    if (message.buffer == nullptr) break;
    *busy = true;
    ARMCI_RETURN_IF_ERROR(arrived(message, forwarded));
  }
  return kSuccess;
}

Status Server::arrived(const MessagePool::Message& message, bool forwarded) {
  RequestHeader header;
  Status valid = read_header(message.text(), &header);
  if (valid.ok() && (header.origin >= origins_.size() ||
                     (!forwarded && header.origin != static_cast<std::uint32_t>(message.source)))) {
    valid = fail(
        Code::kLayerBelow, nullptr,
        "the server refused a request with origin = %u from another process; link all processes with the same library",
        header.origin);
  }
  const bool here = header.node == static_cast<std::uint32_t>(node_);
  if (valid.ok() && !here && (forwarded || !forwarder_.reaches(header.node))) {
    valid = fail(Code::kLayerBelow, nullptr,
                 "the server refused a request for node %u, because its own is node %d; link all processes with the "
                 "same library",
                 header.node, node_);
  }
  if (!valid.ok()) return note(valid, "from rank %d", message.source);
  std::uint64_t ticket = 0;
  if (!forwarded) {
    Origin& from = origin(header.origin);
    ticket = from.first + from.open.size();
    from.open.push_back(false);
  }
  if (!here) return forwarder_.forward(message, header, ticket);
  Work work;
  work.buffer = message.buffer;
  work.forwarded = forwarded;
  work.source = message.source;
  work.ticket = ticket;
  const Bounds bounds{std::max(receive_buffers_.chunk_bytes, receive_buffers_.reply_bytes()),
                      receive_buffers_.chunk_bytes};
  valid = decode(message.text(), is_inside_, bounds, &work.request);
  if (!valid.ok()) return note(valid, "from process %u", header.origin);
  return begin(std::move(work));
}

Status Server::begin(Work work) {
  Origin& from = origin(work.request.header.origin);
  const bool waits_for_chunk = needs_chunk(work.request);
  if (from.queue.empty() && !waits_for_chunk) return complete(&work);
  from.queue.push_back(std::move(work));
  if (!waits_for_chunk) return kSuccess;
  wants_chunk_.push_back(&from.queue.back());
  return give_chunks();
}

bool Server::needs_chunk(const Request& request) const {
  if (request.is_store()) return request.data_follow();
  return request.header.kind == RequestKind::kGet && !request.is_in_place() &&
         request.total_bytes() > receive_buffers_.reply_bytes();
}

bool Server::ready(const Work& work) { return work.request.data_follow() ? work.received : work.chunk != nullptr; }

// In the order of arrival, even if a request is not the next one of its process: see server.h.
Status Server::give_chunks() {
  while (!free_chunks_.empty() && !wants_chunk_.empty()) {
    Work* const work = wants_chunk_.front();
    wants_chunk_.pop_front();
    work->chunk = free_chunks_.back();
    free_chunks_.pop_back();
    const RequestHeader& header = work->request.header;
    if (work->request.data_follow()) {
      ARMCI_MPI(MPI_Irecv(work->chunk->data.get(), static_cast<int>(work->request.total_bytes()), MPI_BYTE,
                          static_cast<int>(header.origin), static_cast<int>(header.tag), comms_.data,
                          &work->chunk->request));
      receiving_.push_back(work);
    } else {
      ARMCI_RETURN_IF_ERROR(run_queue(&origin(header.origin)));
    }
  }
  return kSuccess;
}

Status Server::receive_chunks(bool* busy) {
  for (std::size_t i = 0; i < receiving_.size();) {
    Work* const work = receiving_[i];
    int here = 0;
    ARMCI_MPI(MPI_Test(&work->chunk->request, &here, MPI_STATUS_IGNORE));
    if (here == 0) {
      ++i;
      continue;
    }
    *busy = true;
    receiving_[i] = receiving_.back();
    receiving_.pop_back();
    work->received = true;
    ARMCI_RETURN_IF_ERROR(run_queue(&origin(work->request.header.origin)));
  }
  return give_chunks();
}

Status Server::run_queue(Origin* from) {
  while (!from->queue.empty()) {
    Work& next = from->queue.front();
    if (needs_chunk(next.request) && !ready(next)) break;
    ARMCI_RETURN_IF_ERROR(complete(&next));
    from->queue.pop_front();
  }
  return kSuccess;
}

// Executes a request and returns its credit. A reply carries the credit.
Status Server::complete(Work* work) {
  const RequestHeader& header = work->request.header;
  if (work->forwarded) {
    ARMCI_RETURN_IF_ERROR(forwarded_.replace());
    ARMCI_RETURN_IF_ERROR(execute(*work));
    forwarded_.give_back(work->buffer);
    Sending sending;
    take_reply(false, &sending);
    const ReplyHeader ack{0, 0, header.slot};
    std::memcpy(sending.reply.get(), &ack, sizeof ack);
    ARMCI_MPI(MPI_Isend(sending.reply.get(), static_cast<int>(sizeof ack), MPI_BYTE, work->source, kAcknowledgeTag,
                        comms_.forwards, &sending.request));
    sending_.push_back(std::move(sending));
    return kSuccess;
  }
  ARMCI_RETURN_IF_ERROR(requests_.replace());
  executed(header.origin, work->ticket);
  ARMCI_RETURN_IF_ERROR(execute(*work));
  requests_.give_back(work->buffer);
  return kSuccess;
}

Status Server::take_acks(bool* busy) {
  for (;;) {
    Forwarder::Done done;
    ARMCI_RETURN_IF_ERROR(forwarder_.next_done(&done));
    if (done.buffer == nullptr) return kSuccess;
    *busy = true;
    ARMCI_RETURN_IF_ERROR(requests_.post(done.buffer));
    executed(done.origin, done.ticket);
  }
}

// --- credits

void Server::executed(std::uint32_t process, std::uint64_t ticket) {
  Origin& from = origin(process);
  from.open[ticket - from.first] = true;
  const bool none_due = from.credits_due == 0;
  const bool few_due = static_cast<int>(from.credits_due) < receive_buffers_.credits / 2;
  while (!from.open.empty() && from.open.front()) {
    from.open.pop_front();
    ++from.first;
    ++from.credits_due;
  }
  if (none_due && from.credits_due != 0) credits_due_to_.push_back(process);
  // The process may wait for them.
  if (few_due && static_cast<int>(from.credits_due) >= receive_buffers_.credits / 2) busy_passes_ = kBusyPassesMax;
}

// Sends the credits that no reply has returned: in a pass that finds no request, so that the message does not keep the
// next request waiting, and of many requests at once.
Status Server::return_credits() {
  for (const std::uint32_t process : credits_due_to_) {
    if (origin(process).credits_due != 0) ARMCI_RETURN_IF_ERROR(reply(static_cast<int>(process), kCreditTag, 0));
  }
  credits_due_to_.clear();
  return kSuccess;
}

// --- execution

Status Server::execute(const Work& work) {
  const RequestHeader& header = work.request.header;
  const int client = static_cast<int>(header.origin);
  switch (header.kind) {
    case RequestKind::kPut:
    case RequestKind::kAccumulate:
    case RequestKind::kSignal:
      server::store(work.request, work.chunk != nullptr ? work.chunk->data.get() : work.request.data.data());
      if (work.chunk != nullptr) free_chunks_.push_back(work.chunk);
      return kSuccess;
    case RequestKind::kGet:
      return reply_get(work);
    case RequestKind::kAtomic:
      return reply(client, header.tag, server::execute_atomic(header));
    case RequestKind::kDisconnect:
      return reply(client, kCreditTag, kLastCredits);
  }
  return kSuccess;
}

Status Server::reply_get(const Work& work) {
  const RequestHeader& header = work.request.header;
  const int client = static_cast<int>(header.origin);
  if (work.request.is_in_place()) {
    std::atomic_thread_fence(std::memory_order_acquire);
    return send(client, header.tag, server::pointer(header.address), header.bytes, {});
  }
  Sending sending;
  sending.chunk = work.chunk;
  if (work.chunk == nullptr) take_reply(true, &sending);
  char* const message = work.chunk != nullptr ? work.chunk->data.get() : sending.reply.get();
  char* const data = message + sizeof(ReplyHeader);
  const char* const end = server::collect(work.request, data);
  if (work.request.data_alone()) {
    return send(client, header.tag, data, static_cast<std::size_t>(end - data), std::move(sending));
  }
  const ReplyHeader head = begin_reply(client, 0);
  std::memcpy(message, &head, sizeof head);
  return send(client, header.tag, message, static_cast<std::size_t>(end - message), std::move(sending));
}

Status Server::reply(int client, std::uint32_t tag, std::uint64_t value) {
  Sending sending;
  take_reply(false, &sending);
  char* const message = sending.reply.get();
  const ReplyHeader head = begin_reply(client, value);
  std::memcpy(message, &head, sizeof head);
  return send(client, tag, message, sizeof head, std::move(sending));
}

// The header returns all credits that are due to the process.
//
// Memory ordering: the stores are visible to all processes of the node before the credit is visible to any [FENCE-1].
ReplyHeader Server::begin_reply(int client, std::uint64_t value) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {std::exchange(origin(static_cast<std::uint32_t>(client)).credits_due, 0), 0, value};
}

void Server::take_reply(bool has_data, Sending* sending) {
  std::vector<std::unique_ptr<char[]>>& free = free_replies_[has_data ? 1 : 0];
  sending->has_data = has_data;
  if (free.empty()) {
    sending->reply.reset(new char[sizeof(ReplyHeader) + (has_data ? receive_buffers_.reply_bytes() : 0)]);
    replies_[has_data ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  sending->reply = std::move(free.back());
  free.pop_back();
}

Status Server::send(int client, std::uint32_t tag, const void* data, std::size_t bytes, Sending sending) {
  ARMCI_MPI(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, client, static_cast<int>(tag), comms_.replies,
                      &sending.request));
  sending_.push_back(std::move(sending));
  return kSuccess;
}

Status Server::collect_sent() {
  ARMCI_RETURN_IF_ERROR(take_ended(&sending_, [this](Sending done) {
    if (done.reply != nullptr) free_replies_[done.has_data ? 1 : 0].push_back(std::move(done.reply));
    if (done.chunk != nullptr) free_chunks_.push_back(done.chunk);
    return kSuccess;
  }));
  return give_chunks();
}

}  // namespace armci::twosided
