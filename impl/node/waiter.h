// Waiter: the wait of a thread for another thread, process or node. All loops in impl/ that wait for such use this
// class; beside it are threads that sleep in poll() of sockets and devices, and the first tries of a mutex in
// node_mutex.cc.
//
//   | busy: spins, or polls for some time | yields | polls MPI, sleeps, polls MPI, sleeps longer ...
//   '--- nothing but the condition -------'        '--- a report names the wait ---------------
//
// The busy part depends on spins_are_counted() of the WaitKind, or on the loop; the sleeps on the kind's row in
// waiter.cc. Between two sleeps the waiter lets MPI progress, so that the program's own messages move while it waits in
// a call of this library [PROG-5]; mpi_progress.h says which threads may. A thread whose waits all end in the busy part
// polls MPI every few milliseconds of them.
//
//   Waiter waiter(WaitKind::kSignal);
//   while (!arrived()) waiter.step();
//
// Where another process wakes the waiter, the loop reads the condition last itself:
//
//   while (word.load() == old) if (!waiter.busy()) waiter.sleep_on(&word, old, longest_us);
//
// Thread safety: a Waiter belongs to one thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "impl/node/wait.h"
#include "impl/node/wait_report.h"

namespace armci::node {

// The length of the busy part: as the kind says, or a time.
enum class Busy { kOfKind, kForSomeTime };

class Waiter {
 public:
  explicit Waiter(WaitKind kind) : Waiter(kind, Busy::kOfKind) {}
  // `longest_us`: of a sleep, in the place of the kind's own; 0: it yields instead of sleeping.
  Waiter(WaitKind kind, std::int64_t longest_us)
      : kind_(kind), counts_spins_(spins_are_counted(kind)), longest_us_(longest_us) {}
  // kForSomeTime: of a loop that calls a network's library in each turn.
  Waiter(WaitKind kind, Busy busy)
      : kind_(kind), counts_spins_(busy == Busy::kOfKind && spins_are_counted(kind)), longest_us_(kOwn) {}
  ~Waiter() {
    if (spins_ != 0 && (turns_ += static_cast<std::uint32_t>(spins_)) >= kTurnsBetweenClocks) after_turns();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // False once the thread should sleep. May have polled MPI, so the caller reads the condition again in either case.
  // `streaming`: long messages are in transit, which advance only while a thread polls.
  bool busy(bool streaming = false) {
    if (counts_spins_ && spins_ < spin_iterations()) {
      if (++spins_ % kTurnsBetweenClocks == 0) after_turns();
      if (spins_ > kTurnsWithoutPause) cpu_relax();
      return true;
    }
    return busy_after_spins(streaming);
  }

  // As busy(), without a busy part: for a waiter that is not the next of many.
  bool idle() {
    spins_ = kBusyOver;
    return busy_after_spins(false);
  }

  // The next part of a wait that no other thread ends by a wake-up.
  void step(bool streaming = false);
  // As step(), in a queue: the first waiter is as busy as with step() and begins anew whenever the queue moves; the
  // others sleep longer the farther back they are. `ahead`: waiters or owners before this one, at least 1.
  void step_behind(std::int64_t ahead);
  // step() for a thread that sleeps in another way: how long, in microseconds; 0: the thread polls again at once.
  std::int64_t pause_us(bool streaming = false) { return busy(streaming) ? 0 : sleep_us(); }
  // Sleeps until *word may differ from `expected`, at most `longest_us`; wakes for MPI in between. See
  // futex_wait_bits().
  void sleep_on(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t longest_us,
                std::uint32_t bits = ~std::uint32_t{0});

  // How long step() would sleep now, in microseconds; later sleeps are longer.
  std::int64_t sleep_us();

  // The shorter of `longest_us` and the time until MPI has to be polled: how long a thread may sleep in its own way, in
  // microseconds.
  std::int64_t bounded_us(std::int64_t longest_us) const;

  // The condition came true, and the thread waits for the next one.
  void restart() {
    spins_ = 0;
    since_us_ = 0;
  }

  // True at most every kLivenessPeriodUs of a wait: check for processes that died.
  bool liveness_due() { return since_us_ != 0 && period_over(); }

 private:
  static constexpr std::int64_t kOwn = -1;
  static constexpr int kBusyOver = 1 << 30;
  static constexpr int kTurnsBetweenClocks = 1 << 12;
  static constexpr int kTurnsWithoutPause = 20;  // a pause takes a good part of the way from core to core

  void after_turns();
  bool busy_after_spins(bool streaming);
  bool period_over();
  void begin(std::int64_t now_us);
  void poll_mpi(std::int64_t now_us);

  const WaitKind kind_;
  const bool counts_spins_;
  int spins_ = 0;
  std::int64_t longest_us_;
  bool longest_grows_ = false;
  std::int64_t since_us_ = 0;    // when the spins were over; 0: they are not
  std::int64_t sleep_us_ = 0;    // the next, where sleeps grow by themselves
  std::int64_t poll_at_us_ = 0;  // 0: never
  std::int64_t checked_at_us_ = 0;
  std::int64_t ahead_ = 0;
  ReportedWait reported_;

  // Of the waits of this thread, since it read the clock last. The model: found without a call.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::uint32_t turns_;
};

}  // namespace armci::node
