// What the threads of this process wait for: for reports of a job that hangs, and for ARMCI_STATS.
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
  // For what a network's library has to be asked about.
  kOperations,
  kReply,
  kAccumulateLock,
  kOtherNodes,
  kCollective,
  // Of threads that serve.
  kWork,
  kRequests,
};
inline constexpr int kWaitKinds = static_cast<int>(WaitKind::kRequests) + 1;

// What completes "waits for".
const char* wait_name(WaitKind kind);

struct WaitRecord;

// One wait of this thread, from enter() to leave(). While 64 threads wait, the waits of others are counted but not
// listed.
class ReportedWait {
 public:
  ~ReportedWait() { leave(); }
  ReportedWait() = default;
  ReportedWait(const ReportedWait&) = delete;
  ReportedWait& operator=(const ReportedWait&) = delete;

  bool entered() const { return record_ != nullptr; }
  void enter(WaitKind kind, std::int64_t since_us);
  void leave() {
    if (record_ != nullptr) end();
  }

 private:
  void end();

  WaitRecord* record_ = nullptr;
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

// A scope that waits for a mutex, by whatever kinds of wait: reports name the mutex.
class MutexWait {
 public:
  // `host`: the process that has the mutex. `holder`: the id of its holder + 1; nullptr: not in the memory of this
  // node.
  MutexWait(int mutex, int host, const std::atomic<std::int32_t>* holder);
  ~MutexWait();
  MutexWait(const MutexWait&) = delete;
  MutexWait& operator=(const MutexWait&) = delete;

  const int mutex;
  const int host;
  const std::atomic<std::int32_t>* const holder;

 private:
  const MutexWait* const outer_;
};

struct WaitReport {
  int tid;
  WaitKind kind;
  std::int64_t since_us;
  int mutex;  // -1: none
  int host;
  int holder;  // -1: none, or unknown
};

// Every thread that waits and is no longer busy.
using WaitVisit = void (*)(void* self, const WaitReport& wait);
void visit_waits(WaitVisit visit, void* self);

// Of all threads since the start: waits that were longer than the busy part, and their time.
struct WaitTotals {
  std::uint64_t waits;
  std::uint64_t microseconds;
};
WaitTotals wait_totals(WaitKind kind);
void reset_wait_totals();

}  // namespace armci::node
