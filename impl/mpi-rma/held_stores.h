// HeldStores: short non-blocking puts whose data were copied, and which have not left yet. A signal behind them takes
// them with it: one message. Without a signal they leave as operations of MPI.
//
//   put  put  put   | held, by target
//   long put        | to a target whose last stores a signal announced: full messages leave at once, the rest is held
//   put_signal      | messages: stores, and the signal in the last one
//   flush           | operations of MPI
//   progress thread | operations of MPI, in its second pass after the first of them
//
// Non-blocking puts are unordered until a fence [ORD-3], so no other operation has to send them.
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

    std::size_t bytes() const;
  };
  // Hands the stores of a target to MPI, and clears them. Those that it leaves after a failure stay held.
  using Sender = std::function<Status(int target, Stores* stores)>;

  // For targets 0..processes-1. `make` returns an empty message.
  void reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make);

  // Whether to hold the puts of a call. Longer data gain little, and should travel while the program computes.
  static bool are_short(std::size_t puts, std::size_t bytes) { return puts <= kPutsMax && bytes <= kBytesMax; }
  // Copies the puts. If many are held already, `by_puts` sends those first.
  Status hold(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_puts);
  // Whether to stream the puts of a call. A program that signals after its stores to a target probably does so again;
  // one that flushes would wait longer for messages than for operations of MPI.
  bool streams(int target, std::size_t puts, std::size_t bytes) const {
    return puts <= kStreamedPutsMax && bytes <= kStreamedBytesMax && to(target).announced.load();
  }
  static bool can_stream(std::size_t bytes) { return bytes <= kStreamedBytesMax; }
  // Copies the puts into messages. `by_messages` sends those that are full.
  Status stream(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages);
  // Calls `by_messages` with the stores of the target, perhaps none, and behind them these puts.
  Status send_with_signal(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages);
  // Have the stores leave: of the target; of all; of those that an earlier call of send_old() has seen.
  Status send(int target, const Sender& by_puts);
  Status send_all(const Sender& by_puts);
  Status send_old(const Sender& by_puts);

 private:
  static constexpr std::size_t kPutsMax = 128;
  static constexpr std::size_t kBytesMax = 16384;
  static constexpr std::size_t kHeldBytesMax = 32768;  // of a target, but for the puts of one call
  static constexpr std::size_t kStreamedPutsMax = 1024;
  static constexpr std::size_t kStreamedBytesMax = std::size_t{1} << 20;
  struct Target {
    std::mutex mutex;
    Stores stores;
    bool is_old = false;
    std::atomic<bool> announced{false};  // a signal came last, no flush
    std::atomic<bool> streamed{false};   // since the last signal
  };

  Target& to(int target) { return targets_[static_cast<std::size_t>(target)]; }
  const Target& to(int target) const { return targets_[static_cast<std::size_t>(target)]; }
  bool any() const { return targets_with_stores_.load() > 0; }
  void note_flush(Target* of);
  template <class Visit>
  static Status each_piece(const std::vector<Put>& puts, Visit visit);
  void add_piece(Target* of, const Key& key, const Put& piece);
  Status send_locked(int target, const Sender& sender);

  std::function<std::unique_ptr<SignalMessage>()> make_;
  std::vector<Target> targets_;
  std::atomic<int> targets_with_stores_{0};
};

}  // namespace armci::rma
