// Links, messages, completions and failures.
#include "impl/native-verbs/client_wire.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "impl/node/wait.h"

namespace armci::verbs {

using engine::Message;
using engine::ReplyHeader;

namespace {

constexpr std::size_t kCompletionsMax = 8192;
constexpr std::size_t kSlotBytes = 64;  // replies up to that length need no buffer
// Messages up to that length need no buffer where the device sends them by value.
constexpr std::size_t kShortBytes = 256;
constexpr std::size_t kBouncesOfRequest = 2;    // at most: for the message, and for its reply
constexpr std::size_t kBouncesOfForwarded = 3;  // and for the reply that counts it
// Empty polls between two reads of the clock, the time between two looks for silent servers, and the silence after
// which a server is probed.
constexpr std::uint32_t kPollsBeforeClock = 1024;
constexpr std::int64_t kLookEveryUs = 100'000;
constexpr std::int64_t kSilenceUs = 1'000'000;

}  // namespace

ClientWire::ClientWire(const Device& device, Registrations* registrations, Caller* caller, const engine::Routes& routes,
                       int process, std::vector<int> servers, const ClientBounds& bounds)
    : device_(device),
      registrations_(*registrations),
      caller_(*caller),
      routes_(routes),
      process_(process),
      servers_(std::move(servers)),
      bounds_(bounds),
      limits_{bounds.bounce_bytes, bounds.bounce_bytes - sizeof(ReplyHeader), bounds.requests,
              std::numeric_limits<std::uint64_t>::max(), false},
      tears_(device.is_software()),
      nodes_(new Node[servers_.size()]) {}

// Flushes and probes have completions of their own.
Status ClientWire::open() {
  const std::size_t servers = servers_.size();
  const std::size_t wanted = servers * (bounds_.depth + bounds_.requests + 2);
  ARMCI_RETURN_IF_ERROR(device_.make_queue(std::min(wanted, kCompletionsMax), nullptr, &done_));
  const auto entries = static_cast<std::size_t>(done_->cqe);
  completions_max_ = entries > 4 * servers ? entries - 2 * servers : entries / 2;
  return bounces_.make(device_, bounds_.bounces, bounds_.bounce_bytes);
}

// --- links

Status ClientWire::connect(int server) {
  Node& node = at(server);
  if (!broken_.empty()) return give_up();
  if (node.is_linked) return kSuccess;
  if (!node.sender.link.exists()) {
    Status made = node.slots.make(device_, bounds_.requests, kSlotBytes);
    if (!made.ok() && registrations_.evict_idle()) made = node.slots.make(device_, bounds_.requests, kSlotBytes);
    ARMCI_RETURN_IF_ERROR(made);
    node.replies.make(bounds_.requests);
    ARMCI_RETURN_IF_ERROR(node.sender.create(device_, static_cast<std::uint32_t>(server),
                                             {done_.get(), nullptr, bounds_.depth, bounds_.requests}));
    slot_bytes_ += node.slots.total_bytes();
  }
  Call call;
  call.link = node.sender.link.address(device_);
  Reply reply;
  ARMCI_RETURN_IF_ERROR(caller_.call(server, call, &reply));
  if (reply.error != 0) {
    return fail(Code::kLayerBelow, nullptr, "the server of node %d (process %d) does not connect: %s", server,
                servers_[static_cast<std::size_t>(server)], reply.text);
  }
  ARMCI_RETURN_IF_ERROR(node.sender.link.connect(device_, reply.link));
  node.is_linked = true;
  node.is_forwarding_entry = entry(server) == server && !routes_.neighbours(server).empty();
  ++links_;
  return kSuccess;
}

// --- messages

// A batch may keep its memory for long: the last buffers are for sends, replies and transfers. send() copies other
// memory.
Message ClientWire::take_message(std::size_t bytes) {
  if (bytes > kShortBytes && bounces_.free() > kBouncesOfForwarded) return {bounces_.take(), bytes};
  return {engine::Buffer(new char[bytes], engine::CountedDelete()), bytes};
}

bool ClientWire::can_send(int server) {
  Node& first = at(entry(server));
  return first.sender.can_post() && first.replies.room() > 0 && at(server).replies.room() > 0 &&
         bounces_.free() >= (first.is_forwarding_entry ? kBouncesOfForwarded : kBouncesOfRequest) &&
         pending_completions_ + 2 < completions_max_;
}

Status ClientWire::await_reply(int server, std::size_t bytes) {
  Node& node = at(server);
  engine::Buffer& place = node.replies.push();
  const std::uint64_t number = node.replies.last();
  // Any reply may come here, so the receive has the length of the longest.
  if (bytes > kSlotBytes || node.is_forwarding_entry) place = bounces_.take();
  ibv_sge piece = place != nullptr ? bounces_.piece(place, node.is_forwarding_entry ? bounces_.bytes() : bytes)
                                   : node.slots.piece(number % bounds_.requests, bytes);
  const WorkId id{true, static_cast<std::uint32_t>(server), number};
  ARMCI_RETURN_IF_ERROR(check_posted(server, node.sender.link.receive({&piece, 1}, id.packed())));
  ++pending_completions_;
  return kSuccess;
}

Status ClientWire::send(int server, int executor, Message message, const engine::ExpectedReply* reply) {
  if (!broken_.empty()) return give_up();
  Link& link = at(server).sender.link;
  ARMCI_RETURN_IF_ERROR(await_reply(executor, sizeof(ReplyHeader) + (reply != nullptr ? reply->bytes : 0)));
  if (executor != server) ARMCI_RETURN_IF_ERROR(await_reply(server, sizeof(ReplyHeader)));
  const bool by_value = message.length <= link.by_value_max();
  if (!by_value && !bounces_.lends(message.bytes)) {
    engine::Buffer copy = bounces_.take();
    std::memcpy(copy.get(), message.bytes.get(), message.length);
    message.bytes = std::move(copy);
  }
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(message.bytes.get()), static_cast<std::uint32_t>(message.length), 0};
  if (!by_value) piece = bounces_.piece(message.bytes, message.length);
  Sent* sent = nullptr;
  ARMCI_RETURN_IF_ERROR(add(server, {IBV_WR_SEND, {&piece, 1}, 0, 0, !by_value, by_value}, &sent));
  if (!by_value) sent->bounce = std::move(message.bytes);
  return submit(server);
}

// --- work requests

// Adds it to the batch of its link. The caller fills in what the entry holds.
Status ClientWire::add(int server, const Work& work, Sent** sent) {
  Node& node = at(server);
  ARMCI_RETURN_IF_ERROR(check_posted(server, node.sender.add(work, sent)));
  pending_completions_ += node.sender.is_signaled() ? 1 : 0;
  (*sent)->doing = work.opcode == IBV_WR_RDMA_READ ? Doing::kReading
                   : work.opcode == IBV_WR_SEND    ? Doing::kRequesting
                                                   : Doing::kWriting;
  if ((*sent)->doing == Doing::kWriting) node.stored = node.sender.posted();
  return kSuccess;
}

Status ClientWire::submit(int server) { return check_posted(server, at(server).sender.link.submit()); }

// Its completion completes all work before it. Precondition: the link can post.
Status ClientWire::post_empty_write(int server, Doing doing) {
  const std::uint64_t stored = at(server).stored;
  Sent* empty = nullptr;
  ARMCI_RETURN_IF_ERROR(add(server, {IBV_WR_RDMA_WRITE, {}, 0, 0, true, false}, &empty));
  empty->doing = doing;
  at(server).stored = stored;
  return submit(server);
}

// Memory ordering: the data of a transfer are read after its completion.
Status ClientWire::poll(bool* any) {
  *any = false;
  if (!broken_.empty()) return give_up();
  std::array<ibv_wc, 16> works;
  const int count = ibv_poll_cq(done_.get(), static_cast<int>(works.size()), works.data());
  if (count < 0) return broken(0, "ibv_poll_cq for", "the device reports an error", false);
  if (count == 0) return ++empty_polls_ % kPollsBeforeClock == 0 ? probe() : kSuccess;
  *any = true;
  std::atomic_thread_fence(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) ARMCI_RETURN_IF_ERROR(ended(works[static_cast<std::size_t>(i)]));
  return kSuccess;
}

Status ClientWire::ended(const ibv_wc& work) {
  const WorkId id = WorkId::of(work.wr_id);
  if (work.status != IBV_WC_SUCCESS) return broken_at(work, id);
  --pending_completions_;
  const int server = static_cast<int>(id.link);
  return id.received ? replied(server, id.number, work.byte_len) : sent(server, id.number);
}

Status ClientWire::sent(int server, std::uint64_t number) {
  at(server).sender.retire(number, [this](Sent& sent) {
    if (sent.unpack) std::exchange(sent.unpack, nullptr)(sent.bounce.get());
    sent.bounce.reset();
    for (Registration* const one : sent.registrations) registrations_.release(one);
    sent.registrations.clear();
    if (Operation* const of = std::exchange(sent.operation, nullptr); of != nullptr) of->owner->end_part(of, 0);
  });
  return drive_flush(server);
}

Status ClientWire::replied(int server, std::uint64_t number, std::size_t bytes) {
  Node& node = at(server);
  const std::uint64_t first = node.replies.first();
  const engine::Buffer place = std::move(node.replies.at(first));
  node.replies.pop();
  node.silent_us = 0;
  const char* const message = place != nullptr ? place.get() : node.slots.at(first % bounds_.requests);
  if (bytes < sizeof(ReplyHeader) || (first & WorkId::kNumberMask) != number) {
    return broken(server, "a request to", "the reply is not the one that was due", false);
  }
  ReplyHeader header;
  std::memcpy(&header, message, sizeof header);
  events_->replied(header, {message + sizeof header, bytes - sizeof header});
  return kSuccess;
}

// Has a completion report the last write, and ends the flush after it. A link that cannot post has signaled work.
Status ClientWire::drive_flush(int server) {
  Node& node = at(server);
  if (node.flush == nullptr) return kSuccess;
  if (node.sender.ended() >= node.flush_to) {
    Operation* const ended = std::exchange(node.flush, nullptr);
    ended->owner->end_part(ended, 0);
    return kSuccess;
  }
  if (node.sender.reports(node.flush_to) || !node.sender.can_post()) return kSuccess;
  return post_empty_write(server, Doing::kWriting);
}

// If a server dies after a request has arrived, no pending work request would fail. The empty write of the probe fails.
Status ClientWire::probe() {
  const std::int64_t now_us = node::now_us();
  if (now_us - looked_us_ < kLookEveryUs) return kSuccess;
  looked_us_ = now_us;
  for (int server = 0; server < static_cast<int>(servers_.size()); ++server) {
    Node& node = at(server);
    if (!node.is_linked || node.replies.empty() || node.sender.any_signaled() || !node.sender.can_post()) continue;
    if (node.silent_us == 0) node.silent_us = now_us;
    if (now_us - node.silent_us < kSilenceUs) continue;
    node.silent_us = now_us;
    ARMCI_RETURN_IF_ERROR(post_empty_write(server, Doing::kRequesting));
  }
  return kSuccess;
}

// --- failures

// Work that is counted as pending but was not posted never completes.
Status ClientWire::check_posted(int server, Status status) {
  return status.ok() ? kSuccess : broken(server, "posting work to", last_cause().text, false);
}

Status ClientWire::give_up() const { return fail(Code::kLayerBelow, nullptr, "%s", broken_.c_str()); }

Status ClientWire::failure(int error, const char* call, int server) {
  if (!broken_.empty()) return give_up();
  return fail(Code::kLayerBelow, nullptr, "%s at node %d (process %d) failed with error %d", call, server,
              servers_[static_cast<std::size_t>(server)], error);
}

Status ClientWire::broken_at(const ibv_wc& work, const WorkId& id) {
  const int server = static_cast<int>(id.link);
  const char* what = "a reply from";
  if (!id.received) {
    const Doing doing = at(server).sender.entry(id.number).doing;
    what = doing == Doing::kWriting ? "writing to" : doing == Doing::kReading ? "reading from" : "a request to";
  }
  return broken(server, what, ibv_wc_status_str(work.status), work.status == IBV_WC_RETRY_EXC_ERR);
}

Status ClientWire::broken(int server, const char* what, const char* why, bool is_gone) {
  if (broken_.empty()) {
    broken_ = std::string(what) + " node " + std::to_string(server) + " (process " +
              std::to_string(servers_[static_cast<std::size_t>(server)]) + ") failed: " + why;
    broken_ += is_gone ? "; that process has died, or the network between is down: see its last messages"
                       : "; the job cannot go on: read the messages of the device's driver (dmesg)";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (nodes_[i].is_linked) nodes_[i].sender.link.end();
    }
  }
  return give_up();
}

}  // namespace armci::verbs
