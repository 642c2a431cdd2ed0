// Transport: signals. signal_channel.h has the messages; here are the stores before a signal, and its application.
//
//   epochless, a progress thread on every process     signals
//   anything else                                     none: Runtime flushes, puts or executes an atomic, and flushes
//
// An exclusive epoch waits for those of other processes, which a pass must not. Without a progress thread no thread
// would apply a signal while the program computes.
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "impl/mpi-rma/transport.h"
#include "impl/node/copy.h"
#include "impl/node/mpi_progress.h"

namespace armci::rma {

using runtime::AtomicOp;
using runtime::Segments;

// Collective.
Status Transport::open_signals() {
  int level = MPI_THREAD_SINGLE;
  ARMCI_MPI(MPI_Query_thread(&level));
  int possible = sync_->flushes() && settings().progress_us != 0 && level == MPI_THREAD_MULTIPLE ? 1 : 0;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, comm_));
  choices_.add("signals", possible != 0 ? "messages" : "flushes");
  if (possible == 0) return kSuccess;
  // Data of messages are stored by this CPU, as by a direct access of the owner.
  const auto apply = [this](const SignalMessage& message) {
    message.each_store([](void* remote, const char* data, std::size_t bytes) { node::copy(remote, data, bytes); });
    return message.signal.word != nullptr ? apply_signal(message.signal) : kSuccess;
  };
  ARMCI_RETURN_IF_ERROR(SignalChannel::open(comm_, apply, &signals_));
  held_.reset(runtime::world().size(), [this] { return signals_->take_message(); });
  node::set_mpi_pass([](void* channel) { static_cast<SignalChannel*>(channel)->serve_while_waiting(); },
                     signals_.get());
  return kSuccess;
}

// Collective. The progress thread has ended.
void Transport::close_signals() {
  node::set_mpi_pass(nullptr, nullptr);
  if (signals_ != nullptr) (void)signals_->close();
  signals_.reset();
}

// Data that are too long for messages are a put of their own. That put, unlike a message, could overtake earlier
// signals [ORD-1]. Earlier stores precede the messages. No message goes to this process itself: each signal to it is
// applied when its call returns.
Status Transport::put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                             const node::Signal& signal) {
  const bool follows_stores = unflushed_.any(target);
  std::vector<HeldStores::Put> puts;
  if (bytes > 0 && target != rank_ && HeldStores::can_stream(bytes)) {
    puts.push_back({remote, local, bytes});
    ARMCI_RETURN_IF_ERROR(flush_stores(target));
  } else if (bytes > 0) {
    ARMCI_RETURN_IF_ERROR(flush(target));
    ARMCI_RETURN_IF_ERROR(put_now(target, key, remote, local, bytes));
  }
  if (target == rank_) {
    ARMCI_RETURN_IF_ERROR(flush_stores(target));
    return apply_signal(signal);
  }
  return held_.send_with_signal(target, key, puts, follows_stores, by_messages(),
                                [&](int, HeldStores::Stores* stores) { return send_signal(target, stores, signal); });
}

// The stores that are not held come first.
Status Transport::send_signal(int target, HeldStores::Stores* stores, const node::Signal& signal) {
  ARMCI_RETURN_IF_ERROR(flush_stores(target));
  if (stores->messages.empty()) stores->messages.push_back(signals_->take_message());
  stores->messages.back()->signal = signal;
  return send_messages(target, stores);
}

Status Transport::send_messages(int target, HeldStores::Stores* stores) {
  stores->keys.clear();
  for (std::unique_ptr<SignalMessage>& message : std::exchange(stores->messages, {})) {
    ARMCI_RETURN_IF_ERROR(signals_->send(target, std::move(message)));
  }
  return kSuccess;
}

// A program may wait for the effect of a blocking put without a call that sends it. A non-blocking put must not wait
// for messages to be applied [CMPL-3].
HeldStores::Way Transport::way(int target, Completion* completion, std::size_t puts, std::size_t bytes) {
  if (signals_ == nullptr || completion == nullptr || target == rank_) return HeldStores::Way::kPut;
  const HeldStores::Way way = held_.way(target, puts, bytes);
  if (way != HeldStores::Way::kStreamed) return way;
  std::size_t room = 0;
  const bool has_room = signals_->room(target, &room).ok() && HeldStores::messages_max(puts, bytes) <= room;
  return has_room ? way : HeldStores::Way::kPut;
}

Status Transport::copy(HeldStores::Way way, int target, const Key& key, const std::vector<HeldStores::Put>& puts) {
  return way == HeldStores::Way::kHeld ? held_.hold(target, key, puts, by_puts())
                                       : held_.stream(target, key, puts, by_messages());
}

HeldStores::Sender Transport::by_messages() {
  return [this](int target, HeldStores::Stores* stores) { return send_messages(target, stores); };
}

HeldStores::Sender Transport::by_puts() {
  return [this](int target, HeldStores::Stores* stores) { return put_held(target, stores); };
}

// Successive stores of one length in whole words, as the rows of a call, are one operation. The memory of the messages
// is free once all are complete locally.
Status Transport::put_held(int target, HeldStores::Stores* stores) {
  std::vector<void*> from;
  std::vector<void*> to;
  std::size_t length = 0;
  std::vector<Completion> pending;
  const Key* key = stores->keys.data();
  Status status;
  const auto in_words = [](const void* remote, std::size_t bytes) {
    return (reinterpret_cast<std::uintptr_t>(remote) | bytes) % 8 == 0;
  };
  const auto issue = [&] {
    if (from.empty() || !status.ok()) return;
    const Segments list{from.data(), to.data(), length, from.size()};
    pending.emplace_back();
    status = stored(target, key[-1],
                    noncontiguous_.list(Kind::kPut, place_of(key[-1]), list, word_type(list), &pending.back()));
    from.clear();
    to.clear();
  };
  for (const std::unique_ptr<SignalMessage>& message : stores->messages) {
    message->each_store([&](void* remote, const char* data, std::size_t bytes) {
      const bool joins = !from.empty() && bytes == length && key[-1].window == key->window && in_words(remote, bytes) &&
                         in_words(to.back(), bytes);
      if (!joins) issue();
      length = bytes;
      from.push_back(const_cast<char*>(data));  // which no put changes
      to.push_back(remote);
      ++key;
    });
  }
  issue();
  for (Completion& one : pending) {
    for (bool done = false; status.ok() && !done;) status = one.test(&done);
  }
  if (!status.ok()) return status;
  for (std::unique_ptr<SignalMessage>& message : stores->messages) signals_->give_back(std::move(message));
  stores->messages.clear();
  stores->keys.clear();
  return kSuccess;
}

// The word is changed by the mechanism of atomic64, on the window by which the other processes reach it, unless nothing
// else changes it.
//
// Memory ordering: stores before, then the word, then the look for sleepers. MPI may change the word by plain stores.
Status Transport::apply_signal(const node::Signal& signal) {
  if (signal.sole_writer) return node::apply(signal), kSuccess;
  Window* window = exposed_.find(signal.word);
  if (window == nullptr) window = dynamic_.window();
  const node::RmwOp op = signal.op == node::SignalOp::kSet   ? node::RmwOp::kSwap
                         : signal.op == node::SignalOp::kAdd ? node::RmwOp::kAdd
                                                             : node::RmwOp::kCompareSwap;
  const bool clears = op == node::RmwOp::kCompareSwap;
  const runtime::Rmw rmw = {op, sizeof signal.value, clears ? 0 : signal.value, clears ? signal.value : 0};
  std::uint64_t before = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  ARMCI_RETURN_IF_ERROR(
      sync_->atomic({window, window->rank(), window->displacement(signal.word), rmw}, &before, nullptr));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (signal.wake_up != nullptr) node::wake(*signal.wake_up);
  return kSuccess;
}

std::size_t Transport::buffer_bytes() const { return signals_ != nullptr ? signals_->buffer_bytes() : 0; }

}  // namespace armci::rma
