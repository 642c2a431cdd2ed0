#include "impl/native-verbs/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "impl/common/background_thread.h"
#include "impl/common/backtrace.h"
#include "impl/server/execute.h"
#include "impl/shmem/wait.h"

namespace armci::verbs {

using common::Code;
using common::fail;
using common::fail_errno;
using common::kSuccess;
using common::note;
using common::Status;
using server::Request;
using server::RequestHeader;
using server::RequestKind;

namespace {

// Of an answer; requests have the number of their buffer alone.
constexpr std::uint64_t kAnswerFlag = std::uint64_t{1} << 32;
// How long it looks for more before it blocks, with and without cores for all.
constexpr std::int64_t kLookUs = 60;
constexpr std::int64_t kLookWhenSharedUs = 5;
constexpr int kSpinsWhenShared = 20;

}  // namespace

Server::Server(const Device& device, int processes, std::function<bool(int)> own)
    : device_(device),
      own_(std::move(own)),
      peers_(static_cast<std::size_t>(processes)),
      is_inside_([this](std::uintptr_t address, std::size_t bytes) {
        return blocks_.holds(reinterpret_cast<const void*>(address), bytes);
      }) {}

Server::~Server() {
  stop();
  if (wake_ >= 0) close(wake_);
}

Status Server::open(std::size_t buffers, std::size_t bytes, std::uint32_t depth) {
  depth_ = depth;
  channel_.reset(ibv_create_comp_channel(device_.context()));
  if (channel_ == nullptr) return fail_verbs(errno, "ibv_create_comp_channel");
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return fail_errno(errno, "fcntl of a completion channel");
  }
  const std::size_t answers = peers_.size() * depth;
  done_.reset(ibv_create_cq(device_.context(), static_cast<int>(buffers + answers), nullptr, channel_.get(), 0));
  if (done_ == nullptr) return fail_verbs(errno, "ibv_create_cq");
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = static_cast<std::uint32_t>(buffers);
  wanted.attr.max_sge = 1;
  received_.reset(ibv_create_srq(device_.domain(), &wanted));
  if (received_ == nullptr) return fail_verbs(errno, "ibv_create_srq");
  ARMCI_RETURN_IF_ERROR(requests_.make(device_, buffers, bytes));
  ARMCI_RETURN_IF_ERROR(answers_.make(device_, answers, sizeof(Answer)));
  for (std::size_t i = 0; i < answers; ++i) peers_[i / depth].free.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < buffers; ++i) ARMCI_RETURN_IF_ERROR(post_receive(i));
  wake_ = eventfd(0, EFD_CLOEXEC);
  return wake_ >= 0 ? kSuccess : fail_errno(errno, "eventfd");
}

Status Server::accept(int process, const LinkAddress& theirs, LinkAddress* mine) {
  Link& link = peers_[static_cast<std::size_t>(process)].link;
  ARMCI_RETURN_IF_ERROR(link.create(device_, {done_.get(), received_.get(), depth_}));
  ARMCI_RETURN_IF_ERROR(link.connect(device_, theirs));
  process_of_[link.number()] = process;
  *mine = link.address(device_);
  return kSuccess;
}

Status Server::start() {
  return common::start_background_thread(
      "armci-server", [this] { run(); }, &thread_);
}

void Server::stop() {
  if (!thread_.joinable()) return;
  leaving_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
  thread_.join();
}

Status Server::post_receive(std::size_t buffer) {
  ibv_sge place = requests_.piece(buffer, requests_.bytes());
  ibv_recv_wr work{};
  work.wr_id = buffer;
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_srq_recv(received_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_srq_recv");
}

void Server::run() {
  const std::int64_t look_us = node::spin_iterations() > kSpinsWhenShared ? kLookUs : kLookWhenSharedUs;
  std::int64_t found_us = node::now_us();
  while (!leaving_.load(std::memory_order_relaxed)) {
    bool busy = false;
    Status status = serve(&busy);
    if (busy) found_us = node::now_us();
    if (status.ok() && !busy) {
      if (node::now_us() - found_us > look_us) {
        status = block();
      } else {
        node::cpu_relax();
      }
    }
    if (!status.ok()) {
      // Who sent the request waits for its answer for good.
      common::print_failure("server", common::last_cause());
      common::die(status.value());
    }
  }
}

// Until something is done, or the server is to end. Asks to be told first and looks then, so that nothing is missed.
Status Server::block() {
  if (const int error = ibv_req_notify_cq(done_.get(), 0); error != 0) return fail_verbs(error, "ibv_req_notify_cq");
  bool busy = false;
  ARMCI_RETURN_IF_ERROR(serve(&busy));
  if (busy) return kSuccess;
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
  return kSuccess;
}

Status Server::done(const ibv_wc& work) {
  const auto from = process_of_.find(work.qp_num);
  const int process = from != process_of_.end() ? from->second : -1;
  const bool is_answer = (work.wr_id & kAnswerFlag) != 0;
  if (work.status != IBV_WC_SUCCESS) {
    return fail(Code::kLayerBelow, nullptr, "%s process %d failed: %s", is_answer ? "an answer to" : "a request of",
                process, ibv_wc_status_str(work.status));
  }
  Peer& peer = peers_[static_cast<std::size_t>(process)];
  if (is_answer) {
    peer.free.push_back(static_cast<std::uint32_t>(work.wr_id));
    if (peer.waiting.empty()) return kSuccess;
    const Answer next = peer.waiting.front();
    peer.waiting.pop_front();
    return reply(&peer, next);
  }
  const std::size_t buffer = work.wr_id;
  Answer answer;
  ARMCI_RETURN_IF_ERROR(execute(process, {requests_.at(buffer), work.byte_len}, &answer));
  ARMCI_RETURN_IF_ERROR(post_receive(buffer));
  return reply(&peer, answer);
}

// Memory ordering: what was stored is visible to all processes of the node before the answer is to anyone [FENCE-1].
Status Server::execute(int process, std::span<const char> message, Answer* answer) {
  std::uint32_t magic = 0;
  if (message.size() == sizeof(Order)) std::memcpy(&magic, message.data(), sizeof magic);
  if (magic == kOrderMagic) {
    Order order;
    std::memcpy(&order, message.data(), sizeof order);
    const bool legal = own_(process) && (order.bytes == 0 || is_inside_(order.address, order.bytes));
    if (!legal) return fail(Code::kLayerBelow, nullptr, "process %d orders what it may not", process);
    *answer = carry_out(order);
    return kSuccess;
  }
  Request request;
  const Status valid = server::decode(message, is_inside_, {sizeof answer->value, 0}, &request);
  if (!valid.ok()) return note(valid, "from process %d", process);
  if (request.header.origin != static_cast<std::uint32_t>(process)) {
    return fail(Code::kLayerBelow, nullptr, "a request of process %d says that it is of process %u", process,
                request.header.origin);
  }
  if (request.header.kind == RequestKind::kAtomic) {
    *answer = {request.header.tag, 0, server::execute_atomic(request.header)};
  } else if (request.is_store()) {
    server::store(request, request.data.data());
  } else if (request.header.kind == RequestKind::kGet && !request.is_in_place()) {
    *answer = {request.header.tag, 0, 0};
    server::collect(request, reinterpret_cast<char*>(&answer->value));
  } else {
    return fail(Code::kLayerBelow, nullptr, "process %d asks for what servers do not do", process);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return kSuccess;
}

Answer Server::carry_out(const Order& order) {
  if (order.bytes == 0) return {order.tag, regions_.erase(order.key) == 1 ? 0 : EINVAL, 0};
  Owned<ibv_mr> region(ibv_reg_mr(device_.domain(), server::pointer(order.address), order.bytes,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
  if (region == nullptr) return {order.tag, errno, 0};
  const std::uint32_t key = region->rkey;
  regions_[key] = std::move(region);
  return {order.tag, 0, key};
}

// As many are under way as a process may have requests: later ones wait for those that it has and this one has not seen
// the end of.
Status Server::reply(Peer* peer, const Answer& answer) {
  if (peer->free.empty()) {
    peer->waiting.push_back(answer);
    return kSuccess;
  }
  const std::uint32_t place = peer->free.back();
  peer->free.pop_back();
  std::memcpy(answers_.at(place), &answer, sizeof answer);
  ibv_sge piece = answers_.piece(place, sizeof answer);
  ibv_send_wr work{};
  work.wr_id = kAnswerFlag | place;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND;
  work.send_flags = IBV_SEND_SIGNALED;
  return peer->link.post(&work);
}

}  // namespace armci::verbs
