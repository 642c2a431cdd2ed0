// Requests, replies, credits and completion. The operations are in client_transfer.cc.
#include "impl/mpi-twosided/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/mpi-twosided/client_messages.h"
#include "impl/mpi-twosided/take_ended.h"
#include "impl/node/waiter.h"

namespace armci::twosided {

namespace {

constexpr int kSlots = 16;
constexpr int kPackingMemories = 2;  // few, so that the packed data are still in the cache when MPI sends them
constexpr std::size_t kBatchBytes = 8192;

}  // namespace

Client::Client(const Comms& comms, ReceiveBuffers receive_buffers, const Thresholds& thresholds, const Routes& routes,
               std::vector<int> servers, int process, bool background_progress)
    : comms_(comms),
      receive_buffers_(receive_buffers),
      thresholds_(thresholds),
      routes_(routes),
      servers_(std::move(servers)),
      process_(process),
      background_progress_(background_progress),
      peers_(servers_.size()),
      batches_(servers_.size()),
      slots_(kSlots) {
  for (Peer& one : peers_) one.credits = receive_buffers_.credits;
}

Status Client::disconnect() {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(send_batches(lock));
  for (const int node : connected_) {
    const Peer& peer = peers_[static_cast<std::size_t>(node)];
    ARMCI_RETURN_IF_ERROR(await_until(lock, [&] { return peer.executed == peer.sent; }));
    RequestHeader header;
    header.kind = RequestKind::kDisconnect;
    ARMCI_RETURN_IF_ERROR(send_store(lock, node, header, {}, 0, [](char*) {}));
  }
  const auto none_connected = [this] {
    return std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.connected; });
  };
  ARMCI_RETURN_IF_ERROR(await_until(lock, none_connected));
  for (Slot& slot : slots_) ARMCI_MPI(MPI_Wait(&slot.request, MPI_STATUS_IGNORE));
  connected_.clear();
  return kSuccess;
}

std::size_t Client::buffer_bytes() {
  const Lock lock(mutex_);
  std::size_t requests = 0;
  for (const Slot& slot : slots_) requests += slot.data != nullptr ? 1 : 0;
  for (const Batch& one : batches_) requests += one.message != nullptr ? 1 : 0;
  std::size_t replies = 0;
  for (const Reply& reply : open_) replies += reply.message_bytes;
  return requests * receive_buffers_.bytes +
         static_cast<std::size_t>(packing_memories_) * receive_buffers_.chunk_bytes + replies;
}

// --- completion

Status Client::test(std::uint64_t operation, bool* done) {
  const Lock lock(mutex_);
  *done = !operations_.contains(operation);
  if (*done) return kSuccess;
  ARMCI_RETURN_IF_ERROR(poll());
  *done = !operations_.contains(operation);
  return kSuccess;
}

Status Client::wait(std::uint64_t operation) {
  Lock lock(mutex_);
  return await(lock, operation);
}

Status Client::await(Lock& lock, std::uint64_t operation) {
  return await_until(lock, [=, this] { return !operations_.contains(operation); });
}

Status Client::flush(int target) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  ARMCI_RETURN_IF_ERROR(send_batch(lock, node));
  const Peer& peer = entry(node);
  return await_until(lock, [&peer, sent = peer.sent] { return peer.executed >= sent; });
}

// Each process starts with a different node, so that not all processes send to the same server first.
Status Client::flush_all() {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(send_batches(lock));
  std::vector<std::pair<const Peer*, std::uint64_t>> pending;
  for (const int node : connected_) {
    const Peer& peer = peers_[static_cast<std::size_t>(node)];
    if (peer.executed < peer.sent) pending.emplace_back(&peer, peer.sent);
  }
  return await_until(lock, [&] {
    return std::all_of(pending.begin(), pending.end(),
                       [](const auto& one) { return one.first->executed >= one.second; });
  });
}

// A batch that was filled since the last pass waits for the next one.
Status Client::progress(Progress* found) {
  *found = Progress::kOtherThread;
  if (waiting_.load(std::memory_order_relaxed) != 0) return kSuccess;
  // A thread that has the lock now may leave pending operations.
  *found = Progress::kPending;
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return kSuccess;
  ARMCI_RETURN_IF_ERROR(poll());
  for (std::size_t i = 0; i < batched_.size();) {
    const int node = batched_[i];
    const bool old = std::exchange(batch(node).is_unchanged, true);
    Slot* slot = nullptr;
    if (old && entry(node).credits > 0) ARMCI_RETURN_IF_ERROR(take_slot(&slot));
    if (slot == nullptr) {
      ++i;
      continue;
    }
    ARMCI_RETURN_IF_ERROR(post_batch(node, slot, server::put_header()));
  }
  bool pending = false;
  ARMCI_RETURN_IF_ERROR(find_pending(&pending));
  *found = pending || !batched_.empty() ? Progress::kPending : Progress::kIdle;
  return kSuccess;
}

Status Client::find_pending(bool* pending) {
  bool sent = false;
  ARMCI_RETURN_IF_ERROR(test_slots(&sent));
  *pending = !sent || !open_.empty() || !sending_.empty();
  return kSuccess;
}

Status Client::test_slots(bool* all_sent) {
  *all_sent = true;
  for (Slot& slot : slots_) {
    if (slot.request == MPI_REQUEST_NULL) continue;
    int sent = 0;
    ARMCI_MPI(MPI_Test(&slot.request, &sent, MPI_STATUS_IGNORE));
    if (sent == 0) *all_sent = false;
  }
  return kSuccess;
}

Status Client::needs_progress(bool batches, bool* needed) {
  *needed = false;
  if (!issued_.load(std::memory_order_relaxed) || !issued_.exchange(false)) return kSuccess;
  const Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(find_pending(needed));
  *needed = *needed || (batches && !batched_.empty());
  return kSuccess;
}

Status Client::await_transfers() {
  Lock lock(mutex_);
  Status status;
  ARMCI_RETURN_IF_ERROR(await_until(lock, [&] {
    bool sent = false;
    status = test_slots(&sent);
    return !status.ok() || (sent && sending_.empty() && long_replies_ == 0);
  }));
  return status;
}

void Client::end_part(std::uint64_t operation) {
  const auto found = operations_.find(operation);
  if (found != operations_.end() && --found->second == 0) operations_.erase(found);
}

// --- batches

// Short enough for MPI to send a batch eagerly while the client fills the next one.
std::size_t Client::batch_bytes() const { return std::min(receive_buffers_.bytes, kBatchBytes); }

Status Client::coalesce(Lock& lock, int node, std::uint64_t address, const void* local, std::size_t bytes) {
  Batch& to = batch(node);
  if (!to.fits(bytes, batch_bytes())) ARMCI_RETURN_IF_ERROR(send_batch(lock, node));
  if (to.empty()) {
    ARMCI_RETURN_IF_ERROR(connect(node));
    batched_.push_back(node);
    issued_.store(true, std::memory_order_relaxed);
    if (to.message == nullptr) to.message.reset(new char[receive_buffers_.bytes]);
  }
  to.add(address, local, bytes);
  return kSuccess;
}

Status Client::send_batch(Lock& lock, int node) {
  if (batch(node).empty()) return kSuccess;
  Slot* slot = nullptr;
  ARMCI_RETURN_IF_ERROR(acquire(lock, node, &slot));
  // Another thread may have sent it meanwhile.
  return batch(node).empty() ? kSuccess : post_batch(node, slot, server::put_header());
}

Status Client::post_batch(int node, Slot* slot, RequestHeader header) {
  Batch& from = batch(node);
  address(node, &header);
  const std::size_t bytes = from.complete(header);
  std::swap(from.message, slot->data);
  std::erase(batched_, node);
  return send(node, slot, bytes);
}

Status Client::send_batches(Lock& lock) {
  // Other threads may add batches meanwhile, and send them.
  std::vector<int> nodes = batched_;
  // The nodes after this process's node first.
  const int own = routes_.node_of(process_);
  std::stable_partition(nodes.begin(), nodes.end(), [own](int node) { return node > own; });
  for (const int node : nodes) ARMCI_RETURN_IF_ERROR(send_batch(lock, node));
  return kSuccess;
}

// --- messages

void Client::address(int node, RequestHeader* header) const {
  header->node = static_cast<std::uint32_t>(node);
  header->origin = static_cast<std::uint32_t>(process_);
}

Status Client::connect(int node) {
  Peer& peer = entry(node);
  if (peer.connected) return kSuccess;
  const int at = routes_.entry(process_, node);
  peer.connected = true;
  connected_.push_back(at);
  ARMCI_MPI(MPI_Irecv(&peer.credit_message, sizeof peer.credit_message, MPI_BYTE, server(at), kCreditTag,
                      comms_.replies, &peer.credit_request));
  return kSuccess;
}

Status Client::take_slot(Slot** slot) {
  *slot = nullptr;
  for (Slot& free : slots_) {
    int sent = 0;
    ARMCI_MPI(MPI_Test(&free.request, &sent, MPI_STATUS_IGNORE));
    if (sent == 0) continue;
    if (free.data == nullptr) free.data.reset(new char[receive_buffers_.bytes]);
    *slot = &free;
    break;
  }
  return kSuccess;
}

Status Client::acquire(Lock& lock, int node, Slot** slot) {
  ARMCI_RETURN_IF_ERROR(connect(node));
  const Peer& peer = entry(node);
  Status status;
  ARMCI_RETURN_IF_ERROR(await_until(lock, [&] {
    if (peer.credits == 0) return false;
    status = take_slot(slot);
    return !status.ok() || *slot != nullptr;
  }));
  return status;
}

Status Client::send(int node, Slot* slot, std::size_t bytes) {
  Peer& peer = entry(node);
  --peer.credits;
  ++peer.sent;
  issued_.store(true, std::memory_order_relaxed);
  ARMCI_MPI(MPI_Isend(slot->data.get(), static_cast<int>(bytes), MPI_BYTE, server(routes_.entry(process_, node)),
                      kRequestTag, comms_.requests, &slot->request));
  return kSuccess;
}

Status Client::send_request(Lock& lock, int node, RequestHeader header, std::span<const char> layout,
                            Expected expected) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, node));
  Slot* slot = nullptr;
  ARMCI_RETURN_IF_ERROR(acquire(lock, node, &slot));
  header.tag = next_tag();
  Reply reply;
  reply.operation = expected.operation;
  reply.node = node;
  reply.unpack = std::move(expected.unpack);
  reply.is_long = expected.bytes > receive_buffers_.reply_bytes();
  void* to = expected.direct;
  std::size_t bytes = expected.bytes;
  if (to == nullptr) {
    bytes += sizeof(ReplyHeader);
    reply.message.reset(new char[bytes]);
    reply.message_bytes = bytes;
    to = reply.message.get();
  }
  // Posted before the request is sent, so that MPI never has to store the reply.
  ARMCI_MPI(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, server(node), static_cast<int>(header.tag), comms_.replies,
                      &reply.request));
  long_replies_ += reply.is_long ? 1 : 0;
  open_.push_back(std::move(reply));
  ++operations_[expected.operation];
  address(node, &header);
  server::compose(header, layout, slot->data.get());
  return send(node, slot, sizeof header + layout.size());
}

std::uint32_t Client::next_tag() {
  last_tag_ = last_tag_ < kFirstTag || last_tag_ >= kLastTag ? kFirstTag : last_tag_ + 1;
  return last_tag_;
}

Status Client::poll() {
  ARMCI_RETURN_IF_ERROR(take_ended(&open_, [this](Reply reply) { return arrived(reply); }));
  for (const int node : connected_) {
    Peer& peer = peers_[static_cast<std::size_t>(node)];
    if (peer.executed < peer.sent) ARMCI_RETURN_IF_ERROR(poll_credits(&peer, server(node)));
  }
  return poll_sending();
}

// Memory ordering: the caller's later reads see at least the data of the reply [ORD-4].
Status Client::arrived(const Reply& reply) {
  ++ended_;
  long_replies_ -= reply.is_long ? 1 : 0;
  if (reply.message != nullptr) {
    ReplyHeader header;
    std::memcpy(&header, reply.message.get(), sizeof header);
    credit(&peers_[static_cast<std::size_t>(reply.node)], header.credits);
    if (reply.unpack) reply.unpack(reply.message.get() + sizeof header);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  end_part(reply.operation);
  return kSuccess;
}

void Client::credit(Peer* peer, std::uint32_t count) {
  ++ended_;
  peer->credits += static_cast<int>(count);
  peer->executed += count;
}

Status Client::poll_credits(Peer* peer, int server) {
  while (peer->connected) {
    int here = 0;
    ARMCI_MPI(MPI_Test(&peer->credit_request, &here, MPI_STATUS_IGNORE));
    if (here == 0) break;
    credit(peer, peer->credit_message.credits);
    if (peer->credit_message.value == kLastCredits) {
      peer->connected = false;
      break;
    }
    ARMCI_MPI(MPI_Irecv(&peer->credit_message, sizeof peer->credit_message, MPI_BYTE, server, kCreditTag,
                        comms_.replies, &peer->credit_request));
  }
  return kSuccess;
}

Status Client::poll_sending() {
  return take_ended(&sending_, [this](Sending done) {
    ++ended_;
    if (done.packed != nullptr) packing_memory_.push_back(std::move(done.packed));
    if (done.operation != 0) end_part(done.operation);
    return kSuccess;
  });
}

Status Client::take_packing_memory(Lock& lock, Memory* memory) {
  ARMCI_RETURN_IF_ERROR(
      await_until(lock, [this] { return !packing_memory_.empty() || packing_memories_ < kPackingMemories; }));
  if (packing_memory_.empty()) {
    ++packing_memories_;
    memory->reset(new char[receive_buffers_.chunk_bytes]);
  } else {
    *memory = std::move(packing_memory_.back());
    packing_memory_.pop_back();
  }
  return kSuccess;
}

}  // namespace armci::twosided
