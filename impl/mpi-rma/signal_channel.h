// SignalChannel: signals between processes as messages of MPI, on a communicator of their own.
//
//   origin                                           target: its progress thread, or a thread that waits
//   (stores are flushed: transport_signals.cc)
//   stores, signal: word, value      ------------->  stores the data, changes the word, wakes sleepers
//   signal                           ------------->  likewise
//
//   flush, unless all are known to be applied:
//   ask                              ------------->  has applied every signal before it: MPI keeps the order
//   waits                            <-------------  count of applied signals
//
// Every message carries the number of signals of its receiver that its sender has applied. A ping-pong of signals thus
// needs neither ask nor count. After kUntoldMax signals of an origin the target sends the count unasked. An origin has
// at most kUnappliedMax signals to a target that it does not know to be applied; with more it waits for a count. So MPI
// keeps a bounded number of messages for which the target has no receive. A message with stores and without a signal
// counts as a signal in all of this.
//
//   receives  [0][1][2] ... [15]     posted in turns; MPI fills them and a pass takes them in the same order
//                 '--- next_
//
// One thread at a time makes a pass (impl/engine/passes.h), so the signals of an origin are applied in order. A pass
// never waits for another process: a count that finds no free send follows in a later pass.
//
// Thread safety: members by any thread; open() and close() are collective, serve() and what is beside it belong to the
// progress thread. Needs MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/passes.h"
#include "impl/mpi-rma/signal_message.h"

namespace armci::rma {

class SignalChannel {
 public:
  static constexpr std::uint64_t kUnappliedMax = 64;
  static constexpr std::uint64_t kUntoldMax = kUnappliedMax / 2;

  // Makes the stores of a message in the memory of this process, then applies its signal. Must not wait for a process.
  using Apply = std::function<Status(const SignalMessage&)>;

  // Collective over `comm`, fails on all alike.
  static Status open(MPI_Comm comm, Apply apply, std::unique_ptr<SignalChannel>* out);
  // Collective, after a flush of all signals by every process; no other thread uses the channel. Takes the messages
  // that are still on their way.
  Status close();

  // Without stores and signal.
  std::unique_ptr<SignalMessage> take_message();
  // Of take_message(), if it is not sent.
  void give_back(std::unique_ptr<SignalMessage> message);
  // Sends stores and a signal. Waits, at most, for the target's library to apply earlier ones.
  Status send(int target, std::unique_ptr<SignalMessage> message);
  // Messages with signals or stores that send() would take now without a wait.
  Status room(int target, std::size_t* messages);
  // A flush, in two steps between which the caller may flush stores: has the target say when the signals to it are
  // applied, and waits for that.
  struct Asked {
    int target = -1;
    std::uint64_t count = 0;
  };
  Status ask(int target, Asked* asked);
  Status await(const Asked& asked);
  // Of all targets. Those that cannot be asked are left out, and the last failure is returned.
  Status ask_all(std::vector<Asked>* all);

  // A pass by a thread that waits.
  void serve_while_waiting();

  // A pass by the progress thread: whether there was a message.
  bool serve();
  // Waiting threads serve, so the progress thread may sleep: see Passes.
  bool others_serve() { return passes_.others_serve(); }
  std::int64_t next_sleep_us() { return passes_.next_sleep_us(passes_.waits(), /*pending=*/false); }
  // A message has arrived, seen without a call of MPI; may miss one.
  bool has_arrived() const;
  // Within the last tenth of a second.
  bool came_lately() const;

  std::size_t buffer_bytes() const { return sizeof received_ + made_.load() * sizeof(SignalMessage); }

 private:
  static constexpr std::size_t kReceives = 16;
  static constexpr std::size_t kSends = 64;
  static constexpr std::int64_t kLatelyUs = 100000;

  // Signals to and from one process, and messages to it.
  struct Peer {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> applied_there{0};
    std::atomic<std::uint64_t> applied_here{0};
    std::uint64_t asked = 0;  // of `sent`, for which an answer is under way
    std::uint64_t told = 0;   // of `applied_here`
    bool due = false;         // is in due_
  };
  struct Send {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<SignalMessage> message;  // in use until the request has ended
  };
  struct Receive {
    MPI_Request request = MPI_REQUEST_NULL;
    SignalMessage message;
  };

  explicit SignalChannel(Apply apply) : apply_(std::move(apply)) {}
  Status initialise(MPI_Comm comm);
  Peer& to(int target) { return peers_[static_cast<std::size_t>(target)]; }

  // Sends a message if there is a free send, and for a signal, if the target may have one more. fill(&message) is
  // called then, and may exchange the message for another one. MPI keeps the order of the calls.
  template <class Fill>
  Status try_send(int target, SignalMessage::Kind kind, Fill fill, bool* sent);
  template <class Fill>
  Status send_at_last(int target, SignalMessage::Kind kind, Fill fill);
  Status free_send(Send** out);
  std::unique_ptr<SignalMessage> make_message();

  // By the thread that makes the pass.
  bool pass();
  Status take_messages(bool* found);
  Status take(int origin, const SignalMessage& message);
  void owe_count(int origin, bool asked);
  Status send_counts();
  Status post(Receive* receive);

  const Apply apply_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  engine::Passes passes_;
  std::vector<Peer> peers_;

  std::array<Receive, kReceives> received_;
  std::atomic<std::size_t> next_{0};  // written by the thread that makes the pass
  std::vector<int> due_;              // the origins to tell a count, by that thread
  std::int64_t taken_ = 0;            // messages, by that thread
  std::atomic<std::int64_t> last_us_{0};

  std::mutex sending_;  // for what follows, and `asked` and `told` of peers
  std::array<Send, kSends> sends_;
  std::size_t next_send_ = 0;
  std::vector<std::int64_t> messages_;  // by target
  std::vector<std::unique_ptr<SignalMessage>> free_;
  std::atomic<std::size_t> made_{0};
  bool closing_ = false;
};

}  // namespace armci::rma
