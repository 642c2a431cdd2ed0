#include "impl/mpi-rma/signal_channel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/node/agree.h"
#include "impl/node/wait.h"
#include "impl/node/waiter.h"

namespace armci::rma {

Status SignalChannel::open(MPI_Comm comm, Apply apply, std::unique_ptr<SignalChannel>* out) {
  std::unique_ptr<SignalChannel> channel(new SignalChannel(std::move(apply)));
  ARMCI_MPI(MPI_Comm_dup(comm, &channel->comm_));
  ARMCI_RETURN_IF_ERROR(node::agree(comm, channel->initialise(comm), "preparing to receive signals"));
  *out = std::move(channel);
  return kSuccess;
}

Status SignalChannel::initialise(MPI_Comm comm) {
  ARMCI_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(comm, &size));
  peers_ = std::vector<Peer>(static_cast<std::size_t>(size));
  messages_.assign(peers_.size(), 0);
  for (Receive& receive : received_) ARMCI_RETURN_IF_ERROR(post(&receive));
  return kSuccess;
}

// The number of messages on their way is known, since no process sends one any more.
Status SignalChannel::close() {
  closing_ = true;
  std::int64_t expected = 0;
  ARMCI_MPI(MPI_Reduce_scatter_block(messages_.data(), &expected, 1, MPI_INT64_T, MPI_SUM, comm_));
  node::Waiter waiter(node::WaitKind::kWork);
  while (taken_ < expected) {
    if (!pass()) waiter.step();
  }
  for (Send& send : sends_) ARMCI_MPI(MPI_Wait(&send.request, MPI_STATUS_IGNORE));
  for (Receive& receive : received_) {
    ARMCI_MPI(MPI_Cancel(&receive.request));
    ARMCI_MPI(MPI_Wait(&receive.request, MPI_STATUS_IGNORE));
  }
  ARMCI_MPI(MPI_Comm_free(&comm_));
  return kSuccess;
}

// --- origin

Status SignalChannel::free_send(Send** out) {
  *out = nullptr;
  for (std::size_t tries = 0; tries < kSends && *out == nullptr; ++tries) {
    Send& send = sends_[next_send_];
    next_send_ = (next_send_ + 1) % kSends;
    int done = 0;
    ARMCI_MPI(MPI_Test(&send.request, &done, MPI_STATUS_IGNORE));
    if (done != 0) *out = &send;
  }
  return kSuccess;
}

// Memory ordering: acquire of the count. What the count says was applied is applied when its receiver reads it.
template <class Fill>
Status SignalChannel::try_send(int target, SignalMessage::Kind kind, Fill fill, bool* sent) {
  Peer& peer = to(target);
  const std::lock_guard guard(sending_);
  const std::uint64_t signals = peer.sent.load(std::memory_order_relaxed);
  const bool signal = kind == SignalMessage::kSignal;
  if (closing_ || (signal && signals - peer.applied_there.load(std::memory_order_relaxed) >= kUnappliedMax)) {
    return kSuccess;
  }
  Send* send = nullptr;
  ARMCI_RETURN_IF_ERROR(free_send(&send));
  if (send == nullptr) return kSuccess;
  if (!signal && send->message == nullptr) send->message = make_message();
  if (!signal) send->message->bytes = 0;
  fill(&send->message);
  SignalMessage& message = *send->message;
  message.kind = kind;
  message.applied = peer.applied_here.load(std::memory_order_acquire);
  const auto bytes = static_cast<int>(offsetof(SignalMessage, stores) + message.bytes);
  ARMCI_MPI(MPI_Isend(send->message.get(), bytes, MPI_BYTE, target, 0, comm_, &send->request));
  peer.told = message.applied;
  if (signal) peer.sent.store(signals + 1, std::memory_order_release);
  if (kind == SignalMessage::kAsk) peer.asked = signals;
  ++messages_[static_cast<std::size_t>(target)];
  *sent = true;
  return kSuccess;
}

template <class Fill>
Status SignalChannel::send_at_last(int target, SignalMessage::Kind kind, Fill fill) {
  node::Waiter waiter(node::WaitKind::kReply);
  for (bool sent = false;;) {
    ARMCI_RETURN_IF_ERROR(try_send(target, kind, fill, &sent));
    if (sent) return kSuccess;
    serve_while_waiting();
    waiter.step();
  }
}

std::unique_ptr<SignalMessage> SignalChannel::make_message() {
  made_.fetch_add(1);
  return std::unique_ptr<SignalMessage>(new SignalMessage);
}

std::unique_ptr<SignalMessage> SignalChannel::take_message() {
  const std::lock_guard guard(sending_);
  std::unique_ptr<SignalMessage> message;
  if (free_.empty()) {
    message = make_message();
  } else {
    message = std::move(free_.back());
    free_.pop_back();
  }
  message->signal = {};
  message->bytes = 0;
  return message;
}

void SignalChannel::give_back(std::unique_ptr<SignalMessage> message) {
  const std::lock_guard guard(sending_);
  free_.push_back(std::move(message));
}

Status SignalChannel::send(int target, std::unique_ptr<SignalMessage> message) {
  return send_at_last(target, SignalMessage::kSignal, [&](std::unique_ptr<SignalMessage>* to_send) {
    to_send->swap(message);
    if (message != nullptr) free_.push_back(std::move(message));
  });
}

Status SignalChannel::room(int target, std::size_t* messages) {
  const Peer& peer = to(target);
  const std::lock_guard guard(sending_);
  std::size_t free = 0;
  for (Send& send : sends_) {
    int done = 0;
    ARMCI_MPI(MPI_Test(&send.request, &done, MPI_STATUS_IGNORE));
    free += done != 0 ? 1 : 0;
  }
  const std::uint64_t unapplied = peer.sent.load() - peer.applied_there.load();
  *messages = std::min<std::size_t>(free, kUnappliedMax - std::min(unapplied, kUnappliedMax));
  return kSuccess;
}

Status SignalChannel::ask(int target, Asked* asked) {
  Peer& peer = to(target);
  *asked = {target, peer.sent.load(std::memory_order_acquire)};
  if (peer.applied_there.load(std::memory_order_acquire) >= asked->count) return kSuccess;
  {
    const std::lock_guard guard(sending_);
    if (peer.asked >= asked->count) return kSuccess;
  }
  return send_at_last(target, SignalMessage::kAsk, [](std::unique_ptr<SignalMessage>*) {});
}

// Memory ordering: acquire; the signals are applied.
Status SignalChannel::await(const Asked& asked) {
  const std::atomic<std::uint64_t>& applied = to(asked.target).applied_there;
  node::Waiter waiter(node::WaitKind::kReply);
  while (applied.load(std::memory_order_acquire) < asked.count) {
    serve_while_waiting();
    waiter.step();
  }
  return kSuccess;
}

Status SignalChannel::ask_all(std::vector<Asked>* all) {
  Status status;
  for (int target = 0; target < static_cast<int>(peers_.size()); ++target) {
    Asked asked;
    const Status one = ask(target, &asked);
    if (!one.ok()) status = one;
    if (one.ok() && asked.count > 0) all->push_back(asked);
  }
  return status;
}

// --- target

Status SignalChannel::post(Receive* receive) {
  std::atomic_ref(receive->message.kind).store(SignalMessage::kNone, std::memory_order_relaxed);
  ARMCI_MPI(
      MPI_Irecv(&receive->message, sizeof receive->message, MPI_BYTE, MPI_ANY_SOURCE, 0, comm_, &receive->request));
  return kSuccess;
}

bool SignalChannel::has_arrived() const {
  const Receive& receive = received_[next_.load(std::memory_order_relaxed)];
  const std::atomic_ref kind(const_cast<std::uint64_t&>(receive.message.kind));
  return kind.load(std::memory_order_relaxed) != SignalMessage::kNone;
}

bool SignalChannel::came_lately() const {
  return node::now_us() - last_us_.load(std::memory_order_relaxed) < kLatelyUs;
}

void SignalChannel::serve_while_waiting() {
  // The progress thread needs no call to be woken: it never rests for good.
  passes_.pass_while_waiting([this] { return pass(); }, [] {});
}

bool SignalChannel::serve() {
  const bool inside = passes_.waits();
  const bool found = passes_.try_pass([this] { return pass(); });
  if (found) passes_.work_found(inside);
  return found;
}

// An origin would wait for ever for a signal that is lost, so a failure ends the job.
bool SignalChannel::pass() {
  bool found = false;
  Status status = take_messages(&found);
  if (status.ok() && !due_.empty()) status = send_counts();
  if (!status.ok()) die_of_failure("a thread that applies signals");
  if (found) last_us_.store(node::now_us(), std::memory_order_relaxed);
  return found;
}

// The buffer of the next receive shows without MPI whether a message is there: a test that finds nothing takes 2 us,
// and a thread may wait for what this pass has changed.
Status SignalChannel::take_messages(bool* found) {
  for (std::size_t taken = 0; taken < kReceives && (taken == 0 || has_arrived()); ++taken) {
    const std::size_t next = next_.load(std::memory_order_relaxed);
    Receive& receive = received_[next];
    int done = 0;
    MPI_Status about;
    ARMCI_MPI(MPI_Test(&receive.request, &done, &about));
    if (done == 0) return kSuccess;
    *found = true;
    ++taken_;
    ARMCI_RETURN_IF_ERROR(take(about.MPI_SOURCE, receive.message));
    ARMCI_RETURN_IF_ERROR(post(&receive));
    next_.store((next + 1) % kReceives, std::memory_order_relaxed);
  }
  return kSuccess;
}

// Memory ordering: release of both counts.
Status SignalChannel::take(int origin, const SignalMessage& message) {
  Peer& peer = to(origin);
  peer.applied_there.store(message.applied, std::memory_order_release);
  if (message.kind == SignalMessage::kSignal) {
    ARMCI_RETURN_IF_ERROR(apply_(message));
    peer.applied_here.fetch_add(1, std::memory_order_release);
  }
  if (message.kind != SignalMessage::kCount) owe_count(origin, message.kind == SignalMessage::kAsk);
  return kSuccess;
}

void SignalChannel::owe_count(int origin, bool asked) {
  Peer& peer = to(origin);
  if (peer.due) return;
  const std::lock_guard guard(sending_);
  const std::uint64_t untold = peer.applied_here.load(std::memory_order_relaxed) - peer.told;
  if (untold < (asked ? 1 : kUntoldMax)) return;
  peer.due = true;
  due_.push_back(origin);
}

Status SignalChannel::send_counts() {
  while (!due_.empty()) {
    bool sent = false;
    ARMCI_RETURN_IF_ERROR(try_send(
        due_.back(), SignalMessage::kCount, [](std::unique_ptr<SignalMessage>*) {}, &sent));
    if (!sent) return kSuccess;
    to(due_.back()).due = false;
    due_.pop_back();
  }
  return kSuccess;
}

}  // namespace armci::rma
