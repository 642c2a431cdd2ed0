#include "impl/mpi-rma/held_stores.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace armci::rma {

void HeldStores::reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make) {
  targets_ = std::vector<Target>(static_cast<std::size_t>(processes));
  targets_with_stores_ = streamed_targets_ = 0;
  make_ = std::move(make);
}

std::size_t HeldStores::Stores::bytes() const {
  std::size_t sum = 0;
  for (const std::unique_ptr<SignalMessage>& message : messages) sum += message->bytes;
  return sum;
}

// --- copies

HeldStores::Way HeldStores::way(int target, std::size_t puts, std::size_t bytes) const {
  if (puts <= kHeldPutsMax && bytes <= kHeldCallBytesMax) return Way::kHeld;
  // Shorter rows than their headers are better off in a datatype of MPI.
  const bool can = puts <= kStreamedPutsMax && puts * SignalMessage::kStoreHeaderBytes <= bytes && can_stream(bytes);
  return can && to(target).announced.load() ? Way::kStreamed : Way::kPut;
}

// Two successive messages of rows have more bytes than one message holds: the second began as the first had no room.
std::size_t HeldStores::messages_max(std::size_t puts, std::size_t bytes) {
  if (puts == 1) return bytes / kPieceBytes + 3;
  return 2 * (bytes + puts * (SignalMessage::kStoreHeaderBytes + 8)) / SignalMessage::kStoresBytesMax + 3;
}

Status HeldStores::hold(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_puts) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  if (of.stores.bytes() >= kHeldBytesMax) ARMCI_RETURN_IF_ERROR(send_locked(target, by_puts));
  return add(target, key, puts, nullptr);
}

Status HeldStores::stream(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  if (!of.streamed.exchange(true)) streamed_targets_.fetch_add(1);
  return add(target, key, puts, by_messages);
}

// A put that is longer than a message is several stores, cut between words of the target [LC-3].
Status HeldStores::add(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages) {
  Target& of = to(target);
  for (const Put& put : puts) {
    for (std::size_t done = 0; done < put.bytes;) {
      Put piece{static_cast<char*>(put.remote) + done, static_cast<const char*>(put.local) + done, put.bytes - done};
      if (piece.bytes > kPieceBytes) {
        piece.bytes = kPieceBytes - reinterpret_cast<std::uintptr_t>(piece.remote) % kAlignment;
      }
      add_piece(&of, key, piece);
      done += piece.bytes;
      if (by_messages && of.stores.messages.size() > 1) ARMCI_RETURN_IF_ERROR(send_full(target, by_messages));
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

// All messages but the last one, to which there is more to add.
Status HeldStores::send_full(int target, const Sender& by_messages) {
  Target& of = to(target);
  Stores full = std::exchange(of.stores, {});
  of.stores.messages.push_back(std::move(full.messages.back()));
  full.messages.pop_back();
  std::ptrdiff_t left = 0;
  of.stores.messages.back()->each_store([&](void*, const char*, std::size_t) { ++left; });
  of.stores.keys.assign(full.keys.end() - left, full.keys.end());
  full.keys.resize(full.keys.size() - of.stores.keys.size());
  of.is_old = false;
  return by_messages(target, &full);
}

// --- senders

Status HeldStores::send_locked(int target, const Sender& sender) {
  Stores& stores = to(target).stores;
  const bool had_stores = !stores.keys.empty();
  const Status sent = sender(target, &stores);
  if (had_stores && stores.keys.empty()) targets_with_stores_.fetch_sub(1);
  return sent;
}

Status HeldStores::send_with_signal(int target, const Key& key, const std::vector<Put>& puts, bool follows_stores,
                                    const Sender& by_messages, const Sender& with_signal) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  ARMCI_RETURN_IF_ERROR(add(target, key, puts, by_messages));
  note_signal(&of, follows_stores || !of.stores.keys.empty());
  return send_locked(target, with_signal);
}

void HeldStores::note_signal(Target* of, bool follows_stores) {
  const bool streamed = of->streamed.exchange(false);
  if (streamed) streamed_targets_.fetch_sub(1);
  if (streamed || follows_stores) of->announced = true;
}

// A flush that nothing was streamed for, as in a barrier, says nothing.
void HeldStores::note_flush(Target* of) {
  if (!of->streamed.exchange(false)) return;
  streamed_targets_.fetch_sub(1);
  of->announced = false;
}

Status HeldStores::send(int target, const Sender& by_puts) {
  if (streamed_targets_.load() > 0) note_flush(&to(target));
  if (!any()) return kSuccess;
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  return of.stores.keys.empty() ? kSuccess : send_locked(target, by_puts);
}

Status HeldStores::send_all(const Sender& by_puts) {
  Status status;
  for (std::size_t i = 0; streamed_targets_.load() > 0 && i < targets_.size(); ++i) note_flush(&targets_[i]);
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
