#include "impl/mpi-rma/held_stores.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace armci::rma {

void HeldStores::reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make) {
  targets_ = std::vector<Target>(static_cast<std::size_t>(processes));
  targets_with_stores_ = 0;
  make_ = std::move(make);
}

std::size_t HeldStores::Stores::bytes() const {
  std::size_t sum = 0;
  for (const std::unique_ptr<SignalMessage>& message : messages) sum += message->bytes;
  return sum;
}

// --- copies

Status HeldStores::hold(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_puts) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  if (of.stores.bytes() >= kHeldBytesMax) ARMCI_RETURN_IF_ERROR(send_locked(target, by_puts));
  return each_piece(puts, [&](const Put& piece) { return add_piece(&of, key, piece), kSuccess; });
}

// A full message has become the last but one, and the store behind it is the only one of the last.
Status HeldStores::stream(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  of.streamed = true;
  return each_piece(puts, [&](const Put& piece) {
    add_piece(&of, key, piece);
    Messages& held = of.stores.messages;
    if (held.size() == 1) return kSuccess;
    Stores full{std::exchange(held, {}), {}};
    held.push_back(std::move(full.messages.back()));
    full.messages.pop_back();
    of.stores.keys = {key};
    return by_messages(target, &full);
  });
}

// A put that is longer than a message is several stores, cut between words of the target [LC-3].
template <class Visit>
Status HeldStores::each_piece(const std::vector<Put>& puts, Visit visit) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPieceBytes = SignalMessage::kDataBytesMax / kAlignment * kAlignment;
  for (const Put& put : puts) {
    for (std::size_t done = 0; done < put.bytes;) {
      Put piece{static_cast<char*>(put.remote) + done, static_cast<const char*>(put.local) + done, put.bytes - done};
      if (piece.bytes > kPieceBytes) {
        piece.bytes = kPieceBytes - reinterpret_cast<std::uintptr_t>(piece.remote) % kAlignment;
      }
      ARMCI_RETURN_IF_ERROR(visit(piece));
      done += piece.bytes;
    }
  }
  return kSuccess;
}

void HeldStores::add_piece(Target* of, const Key& key, const Put& piece) {
  Messages& messages = of->stores.messages;
  const auto added = [&] {
    return !messages.empty() && messages.back()->add_store(piece.remote, piece.local, piece.bytes);
  };
  if (of->stores.keys.empty()) {
    targets_with_stores_.fetch_add(1);
    of->is_old = false;
  }
  if (!added()) {
    messages.push_back(make_());
    (void)added();
  }
  of->stores.keys.push_back(key);
}

// --- senders

Status HeldStores::send_locked(int target, const Sender& sender) {
  Stores& stores = to(target).stores;
  const bool had_stores = !stores.keys.empty();
  const Status sent = sender(target, &stores);
  if (had_stores && stores.keys.empty()) targets_with_stores_.fetch_sub(1);
  return sent;
}

Status HeldStores::send_with_signal(int target, const Key& key, const std::vector<Put>& puts,
                                    const Sender& by_messages) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  of.announced = true;
  of.streamed = false;
  ARMCI_RETURN_IF_ERROR(each_piece(puts, [&](const Put& piece) { return add_piece(&of, key, piece), kSuccess; }));
  return send_locked(target, by_messages);
}

void HeldStores::note_flush(Target* of) {
  if (of->streamed.load() && of->streamed.exchange(false)) of->announced = false;
}

Status HeldStores::send(int target, const Sender& by_puts) {
  Target& of = to(target);
  note_flush(&of);
  if (!any()) return kSuccess;
  const std::lock_guard guard(of.mutex);
  return of.stores.keys.empty() ? kSuccess : send_locked(target, by_puts);
}

Status HeldStores::send_all(const Sender& by_puts) {
  Status status;
  for (Target& of : targets_) note_flush(&of);
  for (int target = 0; any() && target < static_cast<int>(targets_.size()); ++target) {
    const Status one = send(target, by_puts);
    if (!one.ok()) status = one;
  }
  return status;
}

Status HeldStores::send_old(const Sender& by_puts) {
  Status status;
  for (int target = 0; any() && target < static_cast<int>(targets_.size()); ++target) {
    Target& of = to(target);
    const std::unique_lock lock(of.mutex, std::try_to_lock);
    if (!lock.owns_lock() || of.stores.keys.empty() || !std::exchange(of.is_old, true)) continue;
    const Status one = send_locked(target, by_puts);
    if (!one.ok()) status = one;
  }
  return status;
}

}  // namespace armci::rma
