// HeldStores: puts whose data were copied into messages of a signal channel, and which have not left yet. A signal
// takes short non-blocking puts along: one message. Without a signal they leave as operations of MPI.
//
//   short put       | held, by target
//   long put        | streamed, to a target whose last stores a signal announced: full messages leave, the rest is held
//   put_signal      | streamed, with the signal in the last message
//   flush           | what is held leaves as operations of MPI
//   progress thread | likewise, in its second pass after the first of them
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
  // Hands the stores of a target to MPI, and clears them. Those that it leaves after a failure stay held, but for those
  // of full messages, which are lost.
  using Sender = std::function<Status(int target, Stores* stores)>;

  // For targets 0..processes-1. `make` returns an empty message. A job without signals needs no reset().
  void reset(int processes, std::function<std::unique_ptr<SignalMessage>()> make);

  // How the non-blocking puts of a call leave. A program that signals after its stores to a target probably does so
  // again. One that flushes would wait longer for messages than for operations of MPI.
  enum class Way { kPut, kHeld, kStreamed };
  Way way(int target, std::size_t puts, std::size_t bytes) const;
  // The messages that the puts of a call take, at most.
  static std::size_t messages_max(std::size_t puts, std::size_t bytes);
  // Whether the data of a put with signal may go in messages.
  static bool can_stream(std::size_t bytes) { return bytes <= kStreamedBytesMax; }
  // Copies the puts. If many are held already, `by_puts` sends those first.
  Status hold(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_puts);
  // Copies the puts. `by_messages` sends each message that is full.
  Status stream(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages);
  // Streams these puts, perhaps none. `with_signal` then sends the rest, perhaps nothing. follows_stores: the signal
  // announces stores that were not held.
  Status send_with_signal(int target, const Key& key, const std::vector<Put>& puts, bool follows_stores,
                          const Sender& by_messages, const Sender& with_signal);
  // Have the stores leave: of the target; of all; of those that an earlier call of send_old() has seen.
  Status send(int target, const Sender& by_puts);
  Status send_all(const Sender& by_puts);
  Status send_old(const Sender& by_puts);

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kPieceBytes = SignalMessage::kDataBytesMax / kAlignment * kAlignment;
  static constexpr std::size_t kHeldPutsMax = 128;
  static constexpr std::size_t kHeldCallBytesMax = 16384;
  static constexpr std::size_t kHeldBytesMax = 32768;  // of a target, but for the puts of one call
  static constexpr std::size_t kStreamedPutsMax = 1024;
  static constexpr std::size_t kStreamedBytesMax = std::size_t{1} << 20;
  struct Target {
    std::mutex mutex;
    Stores stores;
    bool is_old = false;
    // Hints, which are read without the lock.
    std::atomic<bool> announced{false};  // the next long puts are streamed
    std::atomic<bool> streamed{false};   // some were, since the last signal or flush
  };

  Target& to(int target) { return targets_[static_cast<std::size_t>(target)]; }
  const Target& to(int target) const { return targets_[static_cast<std::size_t>(target)]; }
  bool any() const { return targets_with_stores_.load() > 0; }
  void note_signal(Target* of, bool follows_stores);
  void note_flush(Target* of);
  // by_messages: null, or sends each message that is full.
  Status add(int target, const Key& key, const std::vector<Put>& puts, const Sender& by_messages);
  void add_piece(Target* of, const Key& key, const Put& piece);
  Status send_full(int target, const Sender& by_messages);
  Status send_locked(int target, const Sender& sender);

  std::function<std::unique_ptr<SignalMessage>()> make_;
  std::vector<Target> targets_;
  std::atomic<int> targets_with_stores_{0};
  std::atomic<int> streamed_targets_{0};
};

}  // namespace armci::rma
