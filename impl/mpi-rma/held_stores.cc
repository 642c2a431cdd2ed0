#include "impl/mpi-rma/held_stores.h"

#include <algorithm>
#include <utility>

namespace armci::rma {

void HeldStores::reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make) {
  targets_ = std::vector<Target>(static_cast<std::size_t>(processes));
  targets_with_stores_ = 0;
  make_ = std::move(make);
}

Status HeldStores::hold(int target, const Key& key, const std::vector<Put>& puts, const Send& send) {
  Target& of = targets_[static_cast<std::size_t>(target)];
  const std::lock_guard guard(of.mutex);
  for (const Put& put : puts) {
    for (std::size_t done = 0; done < put.bytes; done += kPieceBytes) {
      const Put piece{static_cast<char*>(put.remote) + done, static_cast<const char*>(put.local) + done,
                      std::min(put.bytes - done, kPieceBytes)};
      ARMCI_RETURN_IF_ERROR(hold_piece(target, key, piece, send));
    }
  }
  of.is_unchanged = false;
  return kSuccess;
}

Status HeldStores::hold_piece(int target, const Key& key, const Put& piece, const Send& send) {
  Stores& stores = targets_[static_cast<std::size_t>(target)].stores;
  const auto add = [&] {
    return !stores.messages.empty() && stores.messages.back()->add_store(piece.remote, piece.local, piece.bytes);
  };
  if (!add()) {
    if (stores.messages.size() == kMessagesMax) ARMCI_RETURN_IF_ERROR(send_locked(target, send));
    if (stores.messages.empty()) targets_with_stores_.fetch_add(1);
    stores.messages.push_back(make_());
    (void)add();
  }
  stores.keys.push_back(key);
  return kSuccess;
}

Status HeldStores::send_locked(int target, const Send& send) {
  Stores& stores = targets_[static_cast<std::size_t>(target)].stores;
  const bool had_stores = !stores.keys.empty();
  const Status sent = send(target, &stores);
  stores.messages.clear();
  stores.keys.clear();
  if (had_stores) targets_with_stores_.fetch_sub(1);
  return sent;
}

Status HeldStores::send_with_signal(int target, const Send& send) {
  const std::lock_guard guard(targets_[static_cast<std::size_t>(target)].mutex);
  return send_locked(target, send);
}

Status HeldStores::send(int target, const Send& send) {
  if (!any()) return kSuccess;
  Target& of = targets_[static_cast<std::size_t>(target)];
  const std::lock_guard guard(of.mutex);
  return of.stores.keys.empty() ? kSuccess : send_locked(target, send);
}

Status HeldStores::send_all(const Send& send_one) {
  Status status;
  for (int target = 0; any() && target < static_cast<int>(targets_.size()); ++target) {
    const Status one = send(target, send_one);
    if (!one.ok()) status = one;
  }
  return status;
}

Status HeldStores::send_old(const Send& send) {
  Status status;
  for (int target = 0; any() && target < static_cast<int>(targets_.size()); ++target) {
    Target& of = targets_[static_cast<std::size_t>(target)];
    const std::unique_lock lock(of.mutex, std::try_to_lock);
    if (!lock.owns_lock() || of.stores.keys.empty() || !std::exchange(of.is_unchanged, true)) continue;
    const Status one = send_locked(target, send);
    if (!one.ok()) status = one;
  }
  return status;
}

}  // namespace armci::rma
