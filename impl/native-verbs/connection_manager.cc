#include "impl/native-verbs/connection_manager.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "impl/node/copy.h"
#include "impl/node/waiter.h"

namespace armci::verbs {

namespace {

constexpr std::size_t kCompletionsMax = 8192;
constexpr int kPollsAtOnce = 32;  // before a waiter releases the lock
// Empty polls between two reads of the clock, and the time between two probes.
constexpr int kPollsBeforeClock = 1024;
constexpr std::int64_t kProbeEveryUs = 1'000'000;
constexpr Work kEmptyWrite{IBV_WR_RDMA_WRITE, {}, 0, 0, true, false};

}  // namespace

void ScatterList::set(const char* buffer, char* to, std::size_t count) {
  from = buffer;
  bytes = count;
  rows.clear();
  if (to != nullptr) rows.push_back(to);
}

void ScatterList::scatter() const {
  const char* next = from;
  for (char* const row : rows) {
    node::copy(row, next, bytes);
    next += bytes;
  }
}

ConnectionManager::ConnectionManager(const Device& device, Registrations* registrations, Caller* caller,
                                     std::vector<int> servers)
    : device_(device),
      registrations_(*registrations),
      caller_(*caller),
      servers_(std::move(servers)),
      nodes_(new Node[servers_.size()]) {}

Status ConnectionManager::open(const ConnectionBounds& bounds) {
  bounds_ = bounds;
  const std::size_t wanted = servers_.size() * (bounds.depth + bounds.requests);
  ARMCI_RETURN_IF_ERROR(device_.make_queue(std::min(wanted, kCompletionsMax), nullptr, &done_));
  completions_max_ = static_cast<std::size_t>(done_->cqe);
  ARMCI_RETURN_IF_ERROR(bounces_.make(device_, bounds.bounces, bounds.bounce_bytes));
  for (std::size_t i = 0; i < bounds.bounces; ++i) free_.push_back(static_cast<int>(i));
  return kSuccess;
}

// --- connections

Status ConnectionManager::reach(Lock& lock, int node) {
  if (at(node).connected.load(std::memory_order_acquire)) [[likely]]
    return broken_.empty() ? kSuccess : give_up();
  if (!broken_.empty()) return give_up();
  lock.unlock();
  const Status status = connect(node);
  lock.lock();
  if (!broken_.empty()) return give_up();
  if (status.ok() && !at(node).connected.exchange(true, std::memory_order_acq_rel)) {
    links_.fetch_add(1, std::memory_order_relaxed);
  }
  return status;
}

Status ConnectionManager::connect(int number) {
  std::lock_guard one_at_a_time(connecting_);
  Node& node = at(number);
  if (node.is_linked) return kSuccess;
  if (!node.sender.link.exists()) {
    Status made = node.slots.make(device_, bounds_.requests, kSlotBytes);
    if (!made.ok() && registrations_.evict_idle()) made = node.slots.make(device_, bounds_.requests, kSlotBytes);
    ARMCI_RETURN_IF_ERROR(made);
    node.requests.make(bounds_.requests);
    ARMCI_RETURN_IF_ERROR(node.sender.create(device_, static_cast<std::uint32_t>(number),
                                             {done_.get(), nullptr, bounds_.depth, bounds_.requests}));
    slot_bytes_.fetch_add(node.slots.total_bytes(), std::memory_order_relaxed);
  }
  Call call;
  call.link = node.sender.link.address(device_);
  Reply reply;
  ARMCI_RETURN_IF_ERROR(caller_.call(number, call, &reply));
  if (reply.error != 0) {
    return fail(Code::kLayerBelow, nullptr, "the server of node %d (process %d) does not connect: %s", number,
                servers_[static_cast<std::size_t>(number)], reply.text);
  }
  ARMCI_RETURN_IF_ERROR(node.sender.link.connect(device_, reply.link));
  node.is_linked = true;
  return kSuccess;
}

// --- posting

Status ConnectionManager::take_bounces(Lock& lock, int node, std::span<int> bounces) {
  ARMCI_RETURN_IF_ERROR(await(lock, node, [&] { return free_.size() >= bounces.size(); }));
  for (int& bounce : bounces) {
    bounce = free_.back();
    free_.pop_back();
  }
  return kSuccess;
}

void ConnectionManager::begin(Pending* pending, const Held& held) {
  pending->bounce = held.bounce;
  pending->registrations.assign(held.registrations.begin(), held.registrations.end());
  pending->scatter_list.rows.clear();
}

// Scatters the data and frees the resources.
void ConnectionManager::end(Pending* pending) {
  pending->scatter_list.scatter();
  if (pending->bounce != kNoBounce) free_.push_back(std::exchange(pending->bounce, kNoBounce));
  for (Registration* const one : pending->registrations) registrations_.release(one);
  pending->registrations.clear();
}

Status ConnectionManager::post(Lock& lock, int number, const Work& work, const Held& held, ScatterList** scatter_list) {
  ARMCI_RETURN_IF_ERROR(await(lock, number, [&] { return can_post(at(number)); }));
  return add_to_batch(number, work, held, scatter_list);
}

Status ConnectionManager::add_to_batch(int number, const Work& work, const Held& held, ScatterList** scatter_list) {
  Node& node = at(number);
  Work posted = work;
  posted.signaled |= held.bounce != kNoBounce;  // other threads may wait for the buffer
  Sent* sent = nullptr;
  ARMCI_RETURN_IF_ERROR(check_posted(number, node.sender.add(posted, &sent)));
  pending_completions_ += node.sender.is_signaled() ? 1 : 0;
  sent->doing = work.opcode == IBV_WR_RDMA_READ ? Doing::kReading : Doing::kWriting;
  begin(sent, held);
  if (scatter_list != nullptr) *scatter_list = &sent->scatter_list;
  node.moved = node.sender.posted();
  if (work.opcode != IBV_WR_RDMA_READ) node.stored = node.moved;
  return kSuccess;
}

Status ConnectionManager::post_request(Lock& lock, int number, const Request& request, const ReplyBuffers& reply,
                                       ScatterList** scatter_list) {
  Node& node = at(number);
  ARMCI_RETURN_IF_ERROR(await(lock, number, [&] {
    return node.sender.can_post() && !node.requests.full() && pending_completions_ + 1 < completions_max_;
  }));
  PendingRequest& pending = node.requests.push();
  const std::uint64_t index = node.requests.last();
  begin(&pending, reply.held);
  const std::size_t slot = index % bounds_.requests;
  ibv_sge slot_piece = node.slots.piece(slot, reply.slot_bytes);
  const std::span<ibv_sge> in_slot(&slot_piece, reply.slot_bytes > 0 ? 1 : 0);
  ARMCI_RETURN_IF_ERROR(
      check_posted(number, node.sender.link.receive(!reply.iov.empty() ? reply.iov : in_slot,
                                                    WorkId{true, static_cast<std::uint32_t>(number), index}.packed())));
  Sent* sent = nullptr;
  const Work work{IBV_WR_SEND, {&request.message, 1}, 0, 0, request.bounce != kNoBounce, request.by_value};
  ARMCI_RETURN_IF_ERROR(check_posted(number, node.sender.add(work, &sent)));
  pending_completions_ += node.sender.is_signaled() ? 2 : 1;
  sent->doing = Doing::kRequesting;
  begin(sent, {request.bounce, {}});
  if (request.is_store) node.last_store_request = index;
  if (scatter_list != nullptr) {
    *scatter_list = &pending.scatter_list;
    pending.scatter_list.from = reply.held.bounce != kNoBounce ? bounce(reply.held.bounce) : node.slots.at(slot);
  }
  return kSuccess;
}

Status ConnectionManager::submit(int node) { return check_posted(node, at(node).sender.link.submit()); }

// Work that is counted as pending but was not posted never completes.
Status ConnectionManager::check_posted(int node, Status status) {
  return status.ok() ? kSuccess : broken(node, "posting work to", last_cause().text, false);
}

Status ConnectionManager::give_up() const { return fail(Code::kLayerBelow, nullptr, "%s", broken_.c_str()); }

// --- ends

// Submits the batch for the node, then polls until the condition holds. Releases the lock from time to time.
template <class Condition>
Status ConnectionManager::await(Lock& lock, int node, Condition condition) {
  if (condition()) return kSuccess;
  ARMCI_RETURN_IF_ERROR(submit(node));
  node::Waiter waiter(node::WaitKind::kReply);
  for (int polls = 1;; ++polls) {
    ARMCI_RETURN_IF_ERROR(poll());
    if (condition()) break;
    if (polls % kPollsAtOnce != 0) continue;
    lock.unlock();
    waiter.step(/*streaming=*/true);
    lock.lock();
  }
  return kSuccess;
}

// Memory ordering: the data of a transfer are read after its completion.
Status ConnectionManager::poll() {
  if (!broken_.empty()) return give_up();
  std::array<ibv_wc, 16> works;
  const int count = ibv_poll_cq(done_.get(), static_cast<int>(works.size()), works.data());
  if (count < 0) return broken(0, "ibv_poll_cq for", "the device reports an error", false);
  if (count == 0) return ++empty_polls_ % kPollsBeforeClock == 0 ? probe() : kSuccess;
  std::atomic_thread_fence(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) ARMCI_RETURN_IF_ERROR(ended(works[static_cast<std::size_t>(i)]));
  return kSuccess;
}

// If a server dies after a request has arrived, no pending work request would fail. The empty write of the probe fails.
Status ConnectionManager::probe() {
  const std::int64_t now_us = node::now_us();
  if (now_us - probed_us_ < kProbeEveryUs) return kSuccess;
  probed_us_ = now_us;
  for (int number = 0; number < static_cast<int>(servers_.size()); ++number) {
    Node& node = at(number);
    if (node.requests.empty() || node.sender.any_signaled() || !can_post(node)) continue;
    ARMCI_RETURN_IF_ERROR(add_to_batch(number, kEmptyWrite, {}, nullptr));
    node.sender.entry(node.sender.posted()).doing = Doing::kRequesting;
    ARMCI_RETURN_IF_ERROR(submit(number));
  }
  return kSuccess;
}

Status ConnectionManager::ended(const ibv_wc& work) {
  const WorkId id = WorkId::of(work.wr_id);
  if (work.status != IBV_WC_SUCCESS) return broken_at(work, id);
  --pending_completions_;
  const int number = static_cast<int>(id.link);
  if (id.received) return replied(number, work.byte_len);
  sent(&at(number), id.number);
  return kSuccess;
}

void ConnectionManager::sent(Node* node, std::uint64_t number) {
  node->sender.retire(number, [this](Sent& sent) { end(&sent); });
}

Status ConnectionManager::replied(int number, std::size_t bytes) {
  Node& node = at(number);
  PendingRequest& pending = node.requests.at(node.requests.first());
  const std::size_t expected = pending.scatter_list.rows.size() * pending.scatter_list.bytes;
  if (expected != 0 && bytes != expected) {
    return broken(number, "a request to", "the reply has another length than the request expects", false);
  }
  end(&pending);
  node.requests.pop();
  return kSuccess;
}

Status ConnectionManager::broken_at(const ibv_wc& work, const WorkId& id) {
  const int node = static_cast<int>(id.link);
  const char* what = "a reply from";
  if (!id.received) {
    const Doing doing = at(node).sender.entry(id.number).doing;
    what = doing == Doing::kWriting ? "writing to" : doing == Doing::kReading ? "reading from" : "a request to";
  }
  return broken(node, what, ibv_wc_status_str(work.status), work.status == IBV_WC_RETRY_EXC_ERR);
}

// After the first failure of a link all operations fail, and no device may write to the program's memory.
Status ConnectionManager::broken(int node, const char* what, const char* why, bool is_gone) {
  if (broken_.empty()) {
    broken_ = std::string(what) + " node " + std::to_string(node) + " (process " +
              std::to_string(servers_[static_cast<std::size_t>(node)]) + ") failed: " + why;
    broken_ += is_gone ? "; that process has died, or the network between is down: see its last messages"
                       : "; the job cannot go on: read the messages of the device's driver (dmesg)";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (nodes_[i].connected.load(std::memory_order_relaxed)) nodes_[i].sender.link.end();
    }
  }
  return give_up();
}

// The sends of requests need no signaled work: their replies come later.
Status ConnectionManager::completion_point(Lock& lock, int number, CompletionPoint* point) {
  const Node& node = at(number);
  *point = {number, node.moved, node.requests.last()};
  return ensure_signaled(lock, number, point->sent);
}

Status ConnectionManager::wait(Lock& lock, const CompletionPoint& point) {
  if (point.none()) return kSuccess;
  const Node& node = at(point.node);
  return await(lock, point.node, [&] { return node.reached(point); });
}

Status ConnectionManager::test(const CompletionPoint& point, bool* done) {
  *done = point.none() || at(point.node).reached(point);
  if (*done) return kSuccess;
  ARMCI_RETURN_IF_ERROR(poll());
  *done = at(point.node).reached(point);
  return kSuccess;
}

Status ConnectionManager::await_executed(Lock& lock, int number) {
  const Node& node = at(number);
  if (node.executed()) [[likely]]
    return kSuccess;
  const std::uint64_t last = node.last_store_request;
  return await(lock, number, [&] { return node.replied() >= last; });
}

// Ensures that a completion reports the work request: posts an empty signaled write behind it if necessary.
Status ConnectionManager::ensure_signaled(Lock& lock, int number, std::uint64_t work) {
  if (at(number).sender.reports(work)) return kSuccess;
  ARMCI_RETURN_IF_ERROR(post(lock, number, kEmptyWrite, {}));
  return submit(number);
}

Status ConnectionManager::flush(Lock& lock, int number) {
  Node& node = at(number);
  const CompletionPoint stores{number, node.stored, node.last_store_request};
  ARMCI_RETURN_IF_ERROR(ensure_signaled(lock, number, stores.sent));
  return await(lock, number, [&] { return node.reached(stores); });
}

Status ConnectionManager::flush_all(Lock& lock) {
  std::vector<CompletionPoint> all;
  for (int number = 0; number < static_cast<int>(servers_.size()); ++number) {
    const CompletionPoint stores{number, at(number).stored, at(number).last_store_request};
    if (at(number).reached(stores)) continue;
    all.push_back(stores);
    ARMCI_RETURN_IF_ERROR(ensure_signaled(lock, number, stores.sent));
  }
  for (const CompletionPoint& stores : all) {
    ARMCI_RETURN_IF_ERROR(await(lock, stores.node, [&] { return at(stores.node).reached(stores); }));
  }
  return kSuccess;
}

}  // namespace armci::verbs
