// Queues, requests, replies and events.
#include "impl/native-verbs/server_wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "impl/node/wait.h"

namespace armci::verbs {

using engine::Arrival;
using engine::Message;
using engine::RequestHeader;

namespace {

// Of calls: their completions have ids of their own, above all those of links.
constexpr std::uint64_t kCallIds = std::uint64_t{1} << 62;
constexpr std::size_t kCallsWaiting = 256;
constexpr std::size_t kRepliesMin = 8;
// Of one request: one that is dropped for a refusal, and the refusal.
constexpr std::size_t kBuffersOfReply = 2;
// Replies up to that length need no buffer where the device sends them by value.
constexpr std::size_t kShortBytes = 256;
constexpr std::size_t kCompletionsMax = 16384;
// Requests that follow each other so closely are a stream: the server polls longer for the next before it blocks.
constexpr std::int64_t kStreamUs = 1000;

// Of a request that is perhaps malformed: the process that sent it, or -1.
int origin_of(std::span<const char> request, int processes) {
  RequestHeader header;
  if (request.size() < sizeof header) return -1;
  std::memcpy(&header, request.data(), sizeof header);
  return header.origin < static_cast<std::uint32_t>(processes) ? static_cast<int>(header.origin) : -1;
}

}  // namespace

ServerWire::ServerWire(const Device& device, const ServerBounds& bounds, const engine::Routes& routes, int number,
                       std::function<bool(int)> own)
    : device_(device),
      bounds_(bounds),
      routes_(routes),
      number_(number),
      own_(std::move(own)),
      processes_(routes.processes()),
      peers_(new Peer[static_cast<std::size_t>(routes.processes())]) {}

ServerWire::~ServerWire() {
  if (event_fd_ >= 0) ::close(event_fd_);
}

Status ServerWire::open() {
  const std::vector<int> neighbours = routes_.neighbours(number_);
  if (processes_ + static_cast<int>(neighbours.size()) > device_.limits().max_qp) {
    return fail(
        Code::kUnsupported, nullptr,
        "the verbs device %s has %d queue pairs, too few for %d processes and %zu servers of a cluster; start fewer "
        "processes, lower ARMCI_VERBS_CLUSTER, or link mpi-twosided",
        device_.name(), device_.limits().max_qp, processes_, neighbours.size());
  }
  channel_.reset(ibv_create_comp_channel(device_.context()));
  if (channel_ == nullptr) return fail_verbs(errno, "ibv_create_comp_channel");
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return fail_errno(errno, "fcntl of a completion channel");
  }
  const std::size_t replies = static_cast<std::size_t>(processes_) * bounds_.requests_per_process;
  const std::size_t others = bounds_.requests + 2 * kCallsWaiting + Neighbours::completions(neighbours.size());
  ARMCI_RETURN_IF_ERROR(device_.make_queue(others + std::min(replies, kCompletionsMax), channel_.get(), &done_));
  if (static_cast<std::size_t>(done_->cqe) <= others) {
    return fail(Code::kUnsupported, nullptr,
                "the verbs device %s has completion queues of %d entries, and a server needs more than %zu; lower "
                "ARMCI_VERBS_BUFFERS or ARMCI_VERBS_CLUSTER",
                device_.name(), done_->cqe, others);
  }
  signaled_max_ = static_cast<std::size_t>(done_->cqe) - others;
  ibv_srq_init_attr queue{};
  queue.attr.max_wr = static_cast<std::uint32_t>(bounds_.requests);
  queue.attr.max_sge = 1;
  received_.reset(ibv_create_srq(device_.domain(), &queue));
  if (received_ == nullptr) return fail_verbs(errno, "ibv_create_srq");
  ARMCI_RETURN_IF_ERROR(calls_.create(device_, done_.get(), kCallsWaiting, kCallBytesMax, kCallIds));
  ARMCI_RETURN_IF_ERROR(requests_.make(device_, bounds_.requests, bounds_.bytes));
  ARMCI_RETURN_IF_ERROR(replies_.make(device_, std::max(kRepliesMin, bounds_.requests / 4), bounds_.bytes));
  for (std::size_t i = 0; i < bounds_.requests; ++i) ARMCI_RETURN_IF_ERROR(post_receive(i));
  ARMCI_RETURN_IF_ERROR(neighbours_.create(device_, done_.get(), neighbours, bounds_.bytes));
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event_fd_ >= 0 ? kSuccess : fail_errno(errno, "eventfd");
}

Status ServerWire::post_receive(std::size_t buffer) {
  ibv_sge place = requests_.piece(buffer, requests_.bytes());
  ibv_recv_wr work{};
  work.wr_id = WorkId{true, 0, buffer}.packed();
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_srq_recv(received_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_srq_recv");
}

// --- passes

Status ServerWire::poll(bool* any) {
  if (held_ == 0) held_ = ibv_poll_cq(done_.get(), static_cast<int>(works_.size()), works_.data());
  const int count = std::exchange(held_, 0);
  *any = count > 0;
  if (count > 0) {
    const std::int64_t now_us = node::now_us();
    streaming_ = now_us - std::exchange(found_us_, now_us) < kStreamUs;
  }
  Status status = count < 0 ? fail(Code::kLayerBelow, nullptr, "ibv_poll_cq failed") : kSuccess;
  for (int i = 0; i < count && status.ok(); ++i) status = done(works_[static_cast<std::size_t>(i)]);
  if (status.ok()) status = deliver();
  return leaving_.load(std::memory_order_relaxed) ? kSuccess : status;
}

Status ServerWire::done(const ibv_wc& work) {
  if (work.wr_id >= kCallIds && work.wr_id < kCallIds + calls_.ids()) {
    std::span<const char> message;
    calls_.ended(work, &message);
    return message.empty() ? kSuccess : called(message);
  }
  if (neighbours_.owns(work)) {
    FromServer message;
    ARMCI_RETURN_IF_ERROR(neighbours_.ended(work, &message));
    if (message.server >= 0) arrived(message);
    return kSuccess;
  }
  const WorkId id = WorkId::of(work.wr_id);
  const auto found = process_of_.find(work.qp_num);
  const int process = found != process_of_.end() ? found->second : -1;
  if (work.status != IBV_WC_SUCCESS || process < 0) {
    return fail(Code::kLayerBelow, nullptr,
                "%s process %d failed: %s; that process has died, or the network between is down",
                id.received ? "a request of" : "a reply to", process, ibv_wc_status_str(work.status));
  }
  if (id.received && work.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    ARMCI_RETURN_IF_ERROR(post_receive(id.number));
    return wake_threads_of(ntohl(work.imm_data));
  }
  if (id.received) {
    arrivals_.push_back({{{requests_.at(id.number), work.byte_len}, process, false, nullptr}, {}, process});
    return kSuccess;
  }
  --signaled_;
  peer(process).sender.retire(id.number, [](engine::Buffer& sent) { sent.reset(); });
  return kSuccess;
}

void ServerWire::set_wake_ups(std::vector<node::WakeUp*> all) {
  const std::lock_guard lock(wake_ups_mutex_);
  wake_ups_ = std::move(all);
}

// Memory ordering: the device has changed the word. So a thread that still reads the old one is counted as sleeping.
Status ServerWire::wake_threads_of(std::uint32_t process) {
  const std::lock_guard lock(wake_ups_mutex_);
  if (process >= wake_ups_.size() || wake_ups_[process] == nullptr) {
    return fail(Code::kLayerBelow, nullptr,
                "a signal came for process %u, which is not of this node; link all processes with the same library",
                process);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  node::wake(*wake_ups_[process]);
  return kSuccess;
}

void ServerWire::arrived(const FromServer& from) {
  if (!from.is_acknowledgement) {
    const int origin = origin_of(from.request, processes_);
    return arrivals_.push_back({{from.request, from.server, true, nullptr}, from, origin});
  }
  // The engine will tell the process that its request was executed: deliver() has to know the process before.
  const auto found = forwarded_origins_.find({from.server, engine::acknowledged_number(from.acknowledgement)});
  const int origin = found != forwarded_origins_.end() ? found->second : -1;
  if (found != forwarded_origins_.end()) forwarded_origins_.erase(found);
  arrivals_.push_back({{}, from, origin});
}

Status ServerWire::deliver() {
  while (!arrivals_.empty() && can_reply(arrivals_.front().replied_to)) {
    const Received next = arrivals_.front();
    arrivals_.pop_front();
    if (next.from_server.is_acknowledgement) {
      ARMCI_RETURN_IF_ERROR(events_->acknowledged(next.from_server.server, next.from_server.acknowledgement));
    } else {
      ARMCI_RETURN_IF_ERROR(events_->arrived(next.request));
    }
  }
  return kSuccess;
}

std::size_t ServerWire::buffer_of(const Arrival& request) const {
  return static_cast<std::size_t>(request.message.data() - requests_.at(0)) / requests_.bytes();
}

Status ServerWire::release(const Arrival& arrival) {
  if (arrival.forwarded) return neighbours_.release(arrival.from, arrival.message.data());
  return post_receive(buffer_of(arrival));
}

// --- replies

bool ServerWire::can_reply(int process) {
  if (process < 0) return true;
  return peer(process).sender.can_post() && replies_.free() >= kBuffersOfReply && signaled_ < signaled_max_;
}

Message ServerWire::take_message(std::size_t bytes) {
  if (bytes > kShortBytes) return {replies_.take(), bytes};
  return {engine::Buffer(new char[bytes], engine::CountedDelete()), bytes};
}

Status ServerWire::reply(int process, std::uint32_t, Message message) {
  Sender<engine::Buffer>& sender = peer(process).sender;
  const bool by_value = message.length <= sender.link.by_value_max();
  if (!by_value && !replies_.lends(message.bytes)) {
    engine::Buffer copy = replies_.take();
    std::memcpy(copy.get(), message.bytes.get(), message.length);
    message.bytes = std::move(copy);
  }
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(message.bytes.get()), static_cast<std::uint32_t>(message.length), 0};
  if (!by_value) piece = replies_.piece(message.bytes, message.length);
  engine::Buffer* pending = nullptr;
  ARMCI_RETURN_IF_ERROR(sender.add({IBV_WR_SEND, {&piece, 1}, 0, 0, !by_value, by_value}, &pending));
  signaled_ += sender.is_signaled() ? 1 : 0;
  if (!by_value) *pending = std::move(message.bytes);
  return sender.link.submit();
}

Status ServerWire::forward(int server, const Arrival& arrival) {
  RequestHeader header;
  std::memcpy(&header, arrival.message.data(), sizeof header);
  forwarded_origins_[{server, header.forward_number}] = static_cast<int>(header.origin);
  return neighbours_.forward(server, requests_.piece(buffer_of(arrival), arrival.message.size()));
}

Status ServerWire::acknowledge(int server, std::uint32_t acknowledgement) {
  return neighbours_.acknowledge(server, acknowledgement);
}

// --- events

// Arms the completion queue, then polls it once, so that no completion is missed.
bool ServerWire::arm() {
  if (ibv_req_notify_cq(done_.get(), 0) != 0) return false;
  held_ = ibv_poll_cq(done_.get(), static_cast<int>(works_.size()), works_.data());
  return held_ == 0;
}

void ServerWire::await_event(engine::ClientWire*, std::int64_t us) {
  std::array<pollfd, 2> sources = {{{channel_->fd, POLLIN, 0}, {event_fd_, POLLIN, 0}}};
  const timespec longest = node::timespec_of(us);
  (void)ppoll(sources.data(), sources.size(), us < 0 ? nullptr : &longest, nullptr);
  std::uint64_t wakes = 0;
  (void)!read(event_fd_, &wakes, sizeof wakes);
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0) ibv_ack_cq_events(queue, 1);
}

void ServerWire::wake() {
  const std::uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof one);
}

}  // namespace armci::verbs
