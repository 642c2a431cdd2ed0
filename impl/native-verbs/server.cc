// The server's life, its queues, and calls.
#include "impl/native-verbs/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"
#include "impl/server/execute.h"

namespace armci::verbs {

namespace {

// Of calls: their completions have ids of their own, above all those of links.
constexpr std::uint64_t kCallIds = std::uint64_t{1} << 62;
constexpr std::size_t kCallsWaiting = 256;
constexpr std::size_t kRepliesMin = 8;
constexpr std::size_t kCompletionsMax = 16384;
// Requests that follow each other so closely are a stream: the server polls longer for the next before it blocks.
constexpr std::int64_t kStreamUs = 1000;

// With the text of the last failure. `error` is as errno has it.
Reply refusal(int error, const char* text) {
  Reply reply;
  reply.error = error;
  std::snprintf(reply.text, sizeof reply.text, "%s", text);
  return reply;
}

}  // namespace

Server::Server(const Device& device, int processes, std::function<bool(int)> own)
    : device_(device),
      own_(std::move(own)),
      peers_(new Peer[static_cast<std::size_t>(processes)]),
      processes_(processes),
      is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }) {}

Server::~Server() {
  stop();
  if (wake_ >= 0) close(wake_);
}

Status Server::open(const ServerBounds& bounds) {
  bounds_ = bounds;
  if (processes_ > device_.limits().max_qp) {
    return fail(
        Code::kUnsupported, nullptr,
        "the verbs device %s has %d queue pairs, too few for %d processes; start fewer processes, or link mpi-twosided",
        device_.name(), device_.limits().max_qp, processes_);
  }
  channel_.reset(ibv_create_comp_channel(device_.context()));
  if (channel_ == nullptr) return fail_verbs(errno, "ibv_create_comp_channel");
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return fail_errno(errno, "fcntl of a completion channel");
  }
  const std::size_t replies = static_cast<std::size_t>(processes_) * bounds.requests_per_process;
  const std::size_t wanted = bounds.requests + replies + 2 * kCallsWaiting;
  ARMCI_RETURN_IF_ERROR(device_.make_queue(std::min(wanted, kCompletionsMax), channel_.get(), &done_));
  const std::size_t others = bounds.requests + 2 * kCallsWaiting;
  if (static_cast<std::size_t>(done_->cqe) <= others) {
    return fail(Code::kUnsupported, nullptr,
                "the verbs device %s has completion queues of %d entries, and a server needs more than %zu; lower "
                "ARMCI_VERBS_BUFFERS",
                device_.name(), done_->cqe, others);
  }
  signaled_max_ = static_cast<std::size_t>(done_->cqe) - others;
  ibv_srq_init_attr queue{};
  queue.attr.max_wr = static_cast<std::uint32_t>(bounds.requests);
  queue.attr.max_sge = 1;
  received_.reset(ibv_create_srq(device_.domain(), &queue));
  if (received_ == nullptr) return fail_verbs(errno, "ibv_create_srq");
  ARMCI_RETURN_IF_ERROR(calls_.create(device_, done_.get(), kCallsWaiting, kCallBytesMax, kCallIds));
  ARMCI_RETURN_IF_ERROR(requests_.make(device_, bounds.requests, bounds.bytes));
  ARMCI_RETURN_IF_ERROR(replies_.make(device_, std::max(kRepliesMin, bounds.requests / 4), bounds.bytes));
  for (std::size_t i = 0; i < replies_.count(); ++i) free_.push_back(static_cast<int>(i));
  for (std::size_t i = 0; i < bounds.requests; ++i) ARMCI_RETURN_IF_ERROR(post_receive(i));
  wake_ = eventfd(0, EFD_CLOEXEC);
  return wake_ >= 0 ? kSuccess : fail_errno(errno, "eventfd");
}

Status Server::start(std::uint64_t secret) {
  secret_ = secret;
  return runtime::start_background_thread(
      "armci-server", [this] { run(); }, &thread_);
}

void Server::stop() {
  if (!thread_.joinable()) return;
  ended_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
  thread_.join();
}

Status Server::post_receive(std::size_t buffer) {
  ibv_sge place = requests_.piece(buffer, requests_.bytes());
  ibv_recv_wr work{};
  work.wr_id = WorkId{true, 0, buffer}.packed();
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_srq_recv(received_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_srq_recv");
}

void Server::run() {
  node::Waiter waiter(node::WaitKind::kRequests);
  bool streaming = false;
  std::int64_t found_us = 0;
  while (!ended_.load(std::memory_order_relaxed)) {
    if (passes_.try_pass([this] { return pass(); })) {
      const std::int64_t now_us = node::now_us();
      streaming = now_us - std::exchange(found_us, now_us) < kStreamUs;
      waiter.restart();
      passes_.work_found();
    } else if (passes_.is_helped()) {
      std::this_thread::sleep_for(std::chrono::microseconds(server::Passes::kHelpedSleepUs));  // the reason is there
    } else if (!waiter.busy(streaming)) {
      end_if_failed(block());
      streaming = false;
      waiter.restart();
    }
  }
}

// Leaves nothing undone, so the server thread is woken by the device alone.
void Server::serve_while_waiting() {
  passes_.pass_while_waiting([this] { return pass(); }, [] {});
}

bool Server::pass() {
  bool busy = false;
  end_if_failed(serve(&busy));
  return busy;
}

// The origin of the request would wait for its reply for good.
void Server::end_if_failed(const Status& status) {
  if (!status.ok() && !leaving_.load(std::memory_order_relaxed)) die_of_failure("server");
}

// Returns when there is a completion, or when the server has to end. Arms the completion queue, then polls it once, so
// that no completion is missed.
Status Server::block() {
  {
    const auto lock = passes_.lock();
    if (const int error = ibv_req_notify_cq(done_.get(), 0); error != 0) return fail_verbs(error, "ibv_req_notify_cq");
    bool busy = false;
    ARMCI_RETURN_IF_ERROR(serve(&busy));
    if (busy) return kSuccess;
  }
  std::array<pollfd, 2> sources = {{{channel_->fd, POLLIN, 0}, {wake_, POLLIN, 0}}};
  (void)poll(sources.data(), sources.size(), -1);
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0) ibv_ack_cq_events(queue, 1);
  return kSuccess;
}

Status Server::serve(bool* busy) {
  std::array<ibv_wc, 16> ended;
  const int count = ibv_poll_cq(done_.get(), static_cast<int>(ended.size()), ended.data());
  if (count < 0) return fail(Code::kLayerBelow, nullptr, "ibv_poll_cq failed");
  for (int i = 0; i < count; ++i) ARMCI_RETURN_IF_ERROR(done(ended[static_cast<std::size_t>(i)]));
  *busy = count > 0;
  return serve_arrivals();
}

Status Server::done(const ibv_wc& work) {
  if (work.wr_id >= kCallIds && work.wr_id < kCallIds + calls_.ids()) {
    std::span<const char> message;
    calls_.ended(work, &message);
    return message.empty() ? kSuccess : called(message);
  }
  const WorkId id = WorkId::of(work.wr_id);
  const auto found = process_of_.find(work.qp_num);
  const int process = found != process_of_.end() ? found->second : -1;
  if (work.status != IBV_WC_SUCCESS || process < 0) {
    return fail(Code::kLayerBelow, nullptr,
                "%s process %d failed: %s; that process has died, or the network between is down",
                id.received ? "a request of" : "a reply to", process, ibv_wc_status_str(work.status));
  }
  if (id.received) {
    arrivals_.push_back({process, id.number, work.byte_len});
    return kSuccess;
  }
  --signaled_;
  peers_[static_cast<std::size_t>(process)].sender.retire(id.number, [this](PendingReply& ended) {
    if (std::exchange(ended.in_place, false)) --in_place_;
    if (ended.buffer != kNoBuffer) free_.push_back(std::exchange(ended.buffer, kNoBuffer));
  });
  return kSuccess;
}

// --- calls

// Executes a call once, and repeats the reply each time the call is repeated.
Status Server::called(std::span<const char> message) {
  Call call;
  const bool whole = message.size() == sizeof call;
  if (whole) std::memcpy(&call, message.data(), sizeof call);
  ARMCI_RETURN_IF_ERROR(calls_.release(message));
  // The call may be of another job: no reply.
  if (!whole || call.magic != kCallMagic || call.secret != secret_) return kSuccess;
  if (call.process >= static_cast<std::uint32_t>(processes_)) return kSuccess;
  Peer& peer = peers_[call.process];
  if (call.sequence < peer.last_call) return kSuccess;
  // A device may still send a reply from this memory. The process repeats the call, and a later one succeeds.
  if (call.kind == CallKind::kDeregister && in_place_ > 0) return kSuccess;
  if (call.sequence > peer.last_call) {
    peer.last_reply = is_sound(call) ? carry_out(call) : refusal(EPERM, "the process may not call this for that node");
    peer.last_reply.secret = secret_;
    peer.last_reply.sequence = peer.last_call = call.sequence;
  }
  // A reply that cannot be sent is lost, as any datagram may be.
  (void)calls_.send(call.reply, {reinterpret_cast<const char*>(&peer.last_reply), sizeof peer.last_reply});
  return kSuccess;
}

bool Server::is_sound(const Call& call) const {
  if (call.kind == CallKind::kConnect) return !peers_[call.process].sender.link.exists();
  if (!own_(static_cast<int>(call.process))) return false;
  return call.kind == CallKind::kDeregister || (call.bytes > 0 && is_inside_(call.address, call.bytes));
}

Reply Server::carry_out(const Call& call) {
  if (call.kind == CallKind::kConnect) return connect(call);
  if (call.kind == CallKind::kRegister) return register_memory(call);
  const auto found = regions_.find(server::pointer(call.address));
  if (found == regions_.end() || found->second->rkey != call.key)
    return refusal(EINVAL, "the server has no such registration");
  regions_.erase(found);
  return {};
}

Reply Server::connect(const Call& call) {
  Sender<PendingReply>& sender = peers_[call.process].sender;
  const LinkParts parts{done_.get(), received_.get(), 2 * bounds_.requests_per_process, 0};
  Status status = sender.create(device_, 0, parts);
  if (status.ok()) status = sender.link.connect(device_, call.link);
  if (!status.ok()) {
    sender = {};
    return refusal(EIO, last_cause().text);
  }
  process_of_[sender.link.number()] = static_cast<int>(call.process);
  Reply reply;
  reply.link = sender.link.address(device_);
  return reply;
}

Reply Server::register_memory(const Call& call) {
  char* const base = server::pointer(call.address);
  Owned<ibv_mr> region(ibv_reg_mr(device_.domain(), base, call.bytes,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
  if (region == nullptr) {
    const int error = errno;
    (void)fail_verbs(error, "ibv_reg_mr of a region");
    return refusal(error, last_cause().text);
  }
  Reply reply;
  reply.remote_key = region->rkey;
  reply.local_key = region->lkey;
  regions_[base] = std::move(region);
  return reply;
}

}  // namespace armci::verbs
