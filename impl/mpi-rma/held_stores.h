// HeldStores: short non-blocking puts whose data were copied, and which have not left yet. A signal behind them takes
// them with it: one message. Without a signal they leave as operations of MPI.
//
//   put  put  put   | held, by target
//   put_signal      | messages: stores, and the signal in the last one
//   flush           | operations of MPI
//   progress thread | operations of MPI, if nothing was added since its last pass
//
// Puts of a process are unordered until a flush or a signal [ORD-1], so nothing else has to send them.
//
// Thread safety: all members by any thread, except reset(). A target's lock is held while its stores leave: a thread
// that finds none held knows that they have left.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-rma/signal_message.h"
#include "impl/mpi-rma/window.h"

namespace armci::rma {

class HeldStores {
 public:
  // Of a target.
  static constexpr std::size_t kMessagesMax = 4;
  using Messages = std::vector<std::unique_ptr<SignalMessage>>;

  struct Put {
    void* remote;
    const void* local;
    std::size_t bytes;
  };
  // The stores of one target. They and their messages are in the same order.
  struct Stores {
    Messages messages;
    std::vector<Key> keys;
  };
  // Sends all stores of the target by either way. They are dropped in any case.
  using Send = std::function<Status(int target, Stores* stores)>;

  // For targets 0..processes-1. `make` returns an empty message.
  void reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make);

  // Whether to hold puts of so many bytes. Longer data gain little, and should travel while the program computes.
  static bool are_short(std::size_t puts, std::size_t bytes) { return puts <= kPutsMax && bytes <= kBytesMax; }
  // Copies the puts. If there is no room, send() makes it.
  Status hold(int target, const Key& key, const std::vector<Put>& puts, const Send& send);
  // Has the stores leave: of the target, also if it has none; of all that have any; of those in which nothing was held
  // since the last such call.
  Status send_with_signal(int target, const Send& send);
  Status send(int target, const Send& send);
  Status send_all(const Send& send);
  Status send_old(const Send& send);

 private:
  static constexpr std::size_t kPutsMax = 128;
  static constexpr std::size_t kBytesMax = 16384;
  // Longer puts are several stores, with whole elements in each [LC-3].
  static constexpr std::size_t kPieceBytes = SignalMessage::kDataBytesMax / 64 * 64;
  struct Target {
    std::mutex mutex;
    Stores stores;
    bool is_unchanged = false;
  };

  bool any() const { return targets_with_stores_.load() > 0; }
  Status hold_piece(int target, const Key& key, const Put& piece, const Send& send);
  Status send_locked(int target, const Send& send);

  std::function<std::unique_ptr<SignalMessage>()> make_;
  std::vector<Target> targets_;
  std::atomic<int> targets_with_stores_{0};
};

}  // namespace armci::rma
