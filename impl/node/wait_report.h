// The waits of the threads of this process: for reports of a job that hangs, and for ARMCI_STATS.
//
// Thread safety: a scope belongs to one thread; all functions by any thread, visit_waits() in signal handlers too.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

enum class WaitKind : std::uint8_t {
  // For memory that another process of the node stores to, or that a network stores to behind the library's back.
  kBarrier,
  kMutex,
  kMutexTurn,
  kMutexGrant,
  kMutexSuccessor,
  kNotification,
  kSignal,
  kElement,
  kEvent,
  // For operations whose state only the network's library knows.
  kOperations,  // the first kind without counted spins: spins_are_counted()
  kReply,
  kAccumulateLock,
  kOtherNodes,
  kMessage,
  // A collective call: of MPI inside it, or of the message layer.
  kCollective,
  // Of threads that serve: in no report.
  kWork,
  kRequests,
};
inline constexpr int kWaitKinds = static_cast<int>(WaitKind::kRequests) + 1;

// The busy part of these kinds is ARMCI_SPIN turns without a system call, then some yields. The busy part of the others
// lasts for some time. A poll costs more than a turn, since it calls the network's library. Each yield gives a
// computing program a whole time slice, during which no thread replies to other nodes.
constexpr bool spins_are_counted(WaitKind kind) { return kind < WaitKind::kOperations; }

// The object of "waits for" in a report; nullptr for threads that serve.
const char* wait_name(WaitKind kind);

struct WaitRecord;

// One wait of this thread, from enter() to leave(). While 64 threads wait, the waits of others are counted but not
// listed. Within a MutexWait the wait is counted, and the list has the mutex.
class ReportedWait {
 public:
  ~ReportedWait() { leave(); }
  ReportedWait() = default;
  ReportedWait(const ReportedWait&) = delete;
  ReportedWait& operator=(const ReportedWait&) = delete;

  bool entered() const { return entered_; }
  void enter(WaitKind kind, std::int64_t since_us);
  void leave() {
    if (entered_) end();
  }

 private:
  void end();

  bool entered_ = false;
  WaitRecord* record_ = nullptr;  // nullptr: not listed
  WaitKind kind_ = WaitKind::kBarrier;
  std::int64_t since_us_ = 0;
};

// A scope that waits for the other processes inside a collective call of MPI.
class CollectiveWait {
 public:
  CollectiveWait();

 private:
  ReportedWait wait_;
};

// A scope in which this thread waits for a mutex, in one wait or several. Reports name the mutex and the time since the
// scope began.
class MutexWait {
 public:
  // `host`: the process in whose memory the mutex is. `holder`: the holder's id + 1; nullptr: not in the memory of this
  // node.
  MutexWait(int number, int host, const std::atomic<std::int32_t>* holder);
  ~MutexWait();
  MutexWait(const MutexWait&) = delete;
  MutexWait& operator=(const MutexWait&) = delete;

 private:
  WaitRecord* const record_;  // nullptr: not listed
  const bool outer_;          // the scope lies in another one
};

struct WaitReport {
  int tid;
  WaitKind kind;
  std::int64_t since_us;
  int mutex;  // -1: none
  int host;
  int holder;  // -1: none, or unknown
};

// Every thread that waits in a scope of this file, or in a Waiter whose busy part is over.
using WaitVisit = void (*)(void* self, const WaitReport& wait);
void visit_waits(WaitVisit visit, void* self);

// Of all threads since the start: calls inside MPI, and other waits that were longer than their busy part.
struct WaitTotals {
  std::uint64_t waits;
  std::uint64_t microseconds;
};
WaitTotals wait_totals(WaitKind kind);
void reset_wait_totals();

}  // namespace armci::node
