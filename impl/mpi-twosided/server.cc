#include "impl/mpi-twosided/server.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "impl/common/background_thread.h"
#include "impl/common/backtrace.h"
#include "impl/shmem/copy.h"
#include "impl/shmem/node_accumulate.h"
#include "impl/shmem/node_atomics.h"
#include "impl/shmem/node_memory.h"
#include "impl/shmem/wait.h"

namespace armci::twosided {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;

namespace {

bool is_inside(std::uintptr_t address, std::size_t bytes) {
  return node::node_memory().contains(reinterpret_cast<const void*>(address), bytes);
}

char* pointer(std::uint64_t address) { return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address)); }

// Calls visit(place) for every segment of a request, in its order.
template <class Visit>
void for_places(const Request& request, Visit visit) {
  const RequestHeader& header = request.header;
  switch (header.form) {
    case Form::kContiguous:
      visit(pointer(header.address));
      break;
    case Form::kStrided:
      for_segment_range(request.shape, header.first, header.count,
                        [&](std::ptrdiff_t, std::ptrdiff_t to) { visit(pointer(header.address) + to); });
      break;
    case Form::kList:
      for (std::size_t i = 0; i < header.count; ++i) visit(pointer(request.addresses[i]));
      break;
  }
}

template <class Word>
std::uint64_t execute_atomic(const RequestHeader& header) {
  const auto before = node::rmw<Word>(static_cast<node::RmwOp>(header.type), pointer(header.address),
                                      static_cast<Word>(header.operand[0]), static_cast<Word>(header.operand[1]));
  return static_cast<std::uint64_t>(before);
}

}  // namespace

Server::~Server() { stop(); }

Status Server::post_all(std::span<const int> clients) {
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(requests_, &size));
  owed_credits_.assign(static_cast<std::size_t>(size), 0);
  try {
    buffers_.resize(clients.size() * static_cast<std::size_t>(room_.buffers));
    for (Buffer& buffer : buffers_) buffer.lines = std::make_unique<Line[]>(room_.bytes / sizeof(Line) + 1);
  } catch (const std::bad_alloc&) {
    return fail(Code::kMemory, nullptr,
                "no memory for %d request buffers of %zu bytes for each of %zu processes; set ARMCI_SERVER_BUFFERS or "
                "ARMCI_SERVER_BUFFER_BYTES lower",
                room_.buffers, room_.bytes, clients.size());
  }
  for (Buffer& buffer : buffers_) ARMCI_RETURN_IF_ERROR(post(&buffer));
  return kSuccess;
}

Status Server::start(std::span<const int> clients) {
  ARMCI_RETURN_IF_ERROR(post_all(clients));
  return common::start_background_thread(
      "armci-server", [this] { run([this] { return leaving_.load(std::memory_order_relaxed); }); }, &thread_);
}

void Server::stop() {
  leaving_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
  for (Buffer* buffer : posted_) {
    MPI_Cancel(&buffer->request);
    MPI_Wait(&buffer->request, MPI_STATUS_IGNORE);
  }
  posted_.clear();
  for (Sending& sending : sending_) MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
  sending_.clear();
}

void Server::run(const std::function<bool()>& over) {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds; short sleeps are to be short
  node::PollingBackoff idleness(wait_us_);
  while (!over()) {
    bool busy = false;
    const Status status = step(&busy);
    if (!status.ok()) {
      // Who sent the request waits for its reply for good.
      common::print_failure("server", common::last_cause());
      common::die(status.value());
    }
    if (busy) {
      idleness = node::PollingBackoff(wait_us_);
    } else {
      idleness.step();
    }
  }
}

Status Server::step(bool* busy) {
  constexpr int kRequestsMax = 64;  // before replies are looked after
  *busy = false;
  for (int i = 0; i < kRequestsMax && !posted_.empty(); ++i) {
    Buffer* const buffer = posted_.front();
    MPI_Status status;
    int here = 0;
    ARMCI_MPI(MPI_Test(&buffer->request, &here, &status));
    if (here == 0) break;
    *busy = true;
    posted_.pop_front();
    int bytes = 0;
    ARMCI_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
    const int client = status.MPI_SOURCE;
    // Before the reply that brings the credit back: what is received lies in the buffer until execute() is done, so the
    // buffer is posted after it, and the credits of a reply are those of the requests before.
    bool last = false;
    ARMCI_RETURN_IF_ERROR(execute({buffer->data(), static_cast<std::size_t>(bytes)}, client, &last));
    ARMCI_RETURN_IF_ERROR(post(buffer));
    if (last) continue;
    ++owed_credits_[static_cast<std::size_t>(client)];
    ARMCI_RETURN_IF_ERROR(return_credits(client));
  }
  return collect_sent();
}

Status Server::execute(std::span<const char> message, int client, bool* last) {
  Request request;
  const Status valid = decode(message, is_inside, room_.reply_bytes(), &request);
  if (!valid.ok()) return note(valid, "from process %d", client);
  const RequestHeader& header = request.header;
  switch (header.kind) {
    case RequestKind::kPut:
    case RequestKind::kAccumulate:
      store(request);
      return kSuccess;
    case RequestKind::kGet:
      return answer_get(request, client);
    case RequestKind::kAtomic:
      return answer(client, header.tag,
                    header.bytes == sizeof(std::int32_t) ? execute_atomic<std::int32_t>(header)
                                                         : execute_atomic<std::int64_t>(header));
    case RequestKind::kFence:
      // Memory ordering: what was stored is visible to all processes of the node before the reply is.
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return answer(client, header.tag, 0);
    case RequestKind::kBye:
      *last = true;
      return answer(client, kCreditTag, kLastCredits);
  }
  return kSuccess;
}

// Memory ordering: stores of one process take effect in the order of their requests [ORD-1].
void Server::store(const Request& request) const {
  const std::size_t bytes = request.header.bytes;
  const char* from = request.data.data();
  std::atomic_thread_fence(std::memory_order_release);
  if (request.header.kind == RequestKind::kPut) {
    for_places(request, [&](char* to) {
      node::copy(to, from, bytes);
      from += bytes;
    });
  } else {
    const node::Accumulator accumulator(node::node_memory().accumulate_locks(),
                                        static_cast<common::AccType>(request.header.type), request.header.operand);
    for_places(request, [&](char* to) {
      accumulator.add(to, from, bytes);
      from += bytes;
    });
  }
  std::atomic_thread_fence(std::memory_order_release);
}

Status Server::answer_get(const Request& request, int client) {
  const RequestHeader& header = request.header;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (header.form == Form::kContiguous && header.bytes > kShortReplyBytes) {
    return send(client, header.tag, pointer(header.address), header.bytes, {});
  }
  Buffer buffer = begin_reply(client, 0);
  char* to = buffer.data() + sizeof(ReplyHeader);
  for_places(request, [&](const char* from) {
    node::copy(to, from, header.bytes);
    to += header.bytes;
  });
  const char* data = buffer.data();
  return send(client, header.tag, data, static_cast<std::size_t>(to - data), std::move(buffer));
}

Status Server::answer(int client, std::uint32_t tag, std::uint64_t value) {
  Buffer buffer = begin_reply(client, value);
  const char* data = buffer.data();
  return send(client, tag, data, sizeof(ReplyHeader), std::move(buffer));
}

// With all the credits that the process is owed.
Server::Buffer Server::begin_reply(int client, std::uint64_t value) {
  Buffer buffer = take_reply_buffer();
  ReplyHeader reply;
  reply.credits = std::exchange(owed_credits_[static_cast<std::size_t>(client)], 0);
  reply.value = value;
  std::memcpy(buffer.data(), &reply, sizeof reply);
  return buffer;
}

// Once half of what the process may send is owed; replies bring the others along.
Status Server::return_credits(int client) {
  const std::uint32_t owed = owed_credits_[static_cast<std::size_t>(client)];
  return 2 * owed < static_cast<std::uint32_t>(room_.buffers) ? kSuccess : answer(client, kCreditTag, 0);
}

Status Server::post(Buffer* buffer) {
  ARMCI_MPI(MPI_Irecv(buffer->data(), static_cast<int>(room_.bytes), MPI_BYTE, MPI_ANY_SOURCE, kRequestTag, requests_,
                      &buffer->request));
  posted_.push_back(buffer);
  return kSuccess;
}

Server::Buffer Server::take_reply_buffer() {
  if (free_replies_.empty()) {
    const std::size_t bytes = std::max(room_.bytes, kShortReplyBytes + sizeof(ReplyHeader));
    return {std::make_unique<Line[]>(bytes / sizeof(Line) + 1), MPI_REQUEST_NULL};
  }
  Buffer buffer = std::move(free_replies_.back());
  free_replies_.pop_back();
  return buffer;
}

Status Server::send(int client, std::uint32_t tag, const void* data, std::size_t bytes, Buffer buffer) {
  Sending sending;
  ARMCI_MPI(
      MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, client, static_cast<int>(tag), replies_, &sending.request));
  sending.buffer = std::move(buffer);
  sending_.push_back(std::move(sending));
  return kSuccess;
}

Status Server::collect_sent() {
  for (std::size_t i = 0; i < sending_.size();) {
    int sent = 0;
    ARMCI_MPI(MPI_Test(&sending_[i].request, &sent, MPI_STATUS_IGNORE));
    if (sent == 0) {
      ++i;
      continue;
    }
    if (sending_[i].buffer.lines != nullptr) free_replies_.push_back(std::move(sending_[i].buffer));
    std::swap(sending_[i], sending_.back());
    sending_.pop_back();
  }
  return kSuccess;
}

}  // namespace armci::twosided
