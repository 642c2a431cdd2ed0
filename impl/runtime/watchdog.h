// Watchdog (ARMCI_TIMEOUT seconds): turns a hang into a report and an end.
//
//   program thread             watchdog thread of the rank            watchdog threads of the other ranks
//   begin_call: slot busy      tick: slot busy since this tick        tick: peer_requested_dump()? no
//   ... no return ...          tick: same call, timeout reached
//                              prints: call, peer, seconds,
//                              pending operations, all stacks
//                              announce_hang()  ------------------>   tick: peer_requested_dump()? yes
//                              waits for dumps_complete() or a        prints its own state, whether inside a
//                              few seconds, abort_job()               call or not; keeps running
//
// A call costs two stores when the watchdog runs, and one load and branch when it does not. The program's threads read
// no clock. The watchdog times a call from the first tick that sees it, so a report comes at most two ticks late. A
// tick is an eighth of the timeout, at most one second.
//
// Thread safety: begin_call() and end_call() by any thread; start() and stop() by one thread, at init and finalize.
#pragma once

#include <atomic>
#include <cstdint>

#include "impl/base/status.h"

namespace armci::runtime {

// The calls of the watchdog into the rest of the library. Any hook may be null. All run in the watchdog's thread while
// the program's threads may hang inside the library: they must not wait for a lock of those threads.
struct WatchdogHooks {
  void (*dump_pending)(int fd) = nullptr;   // prints pending operations
  bool (*peer_requested_dump)() = nullptr;  // has another rank announced a hang?
  void (*announce_hang)() = nullptr;        // makes every other rank's peer_requested_dump() true
  void (*note_dumped)() = nullptr;          // this rank has printed its state
  bool (*dumps_complete)() = nullptr;       // has every rank printed its state?
  void (*abort_job)(int code) = nullptr;    // ends the job; null: die()
};

namespace watchdog_internal {

// One per thread that makes calls. Even serial: idle, odd: inside a call.
struct Slot {
  std::atomic<uint64_t> serial{0};
  std::atomic<const char*> name{nullptr};
  std::atomic<long> peer{-1};
  std::atomic<int> call{-1};
  std::atomic<int> tid{0};  // 0: no thread owns the slot
  int depth = 0;            // used by the owner only: calls made inside calls are not timed
  Slot* next = nullptr;     // constant once the slot is listed
  // Used by the watchdog only: the call it saw last, and since when.
  uint64_t seen_serial = 0;
  int64_t seen_since_ns = 0;
};

extern std::atomic<bool> running;
Slot* slot_of_this_thread();

// Checks all calls in progress at time `now_ns`. Returns the call seen for longest if that is at least timeout_ns, else
// nullptr. Only one thread may call this.
Slot* find_overdue(int64_t now_ns, int64_t timeout_ns);

}  // namespace watchdog_internal

// Starts the watchdog. timeout_seconds <= 0: does nothing and starts no thread. kLayerBelow when the thread cannot be
// made.
Status start_watchdog(double timeout_seconds, const WatchdogHooks& hooks);

// Stops and joins the thread. Harmless when none runs.
void stop_watchdog();

// The peer of a call that has none.
inline constexpr long kNoPeer = -1;

// `name` must live as long as the process.
inline watchdog_internal::Slot* begin_call(int call, const char* name, long peer) {
  if (!watchdog_internal::running.load(std::memory_order_relaxed)) [[likely]]
    return nullptr;
  watchdog_internal::Slot* slot = watchdog_internal::slot_of_this_thread();
  if (slot == nullptr || slot->depth++ > 0) return slot;
  slot->call.store(call, std::memory_order_relaxed);
  slot->name.store(name, std::memory_order_relaxed);
  slot->peer.store(peer, std::memory_order_relaxed);
  // Release: the watchdog, which reads the serial first, sees the call that belongs to it.
  slot->serial.store(slot->serial.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return slot;
}

// `slot` is what begin_call() returned in this thread.
inline void end_call(watchdog_internal::Slot* slot) {
  if (slot == nullptr || --slot->depth > 0) return;
  slot->serial.store(slot->serial.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// A call in progress, for the length of a scope.
class CallScope {
 public:
  CallScope(int call, const char* name, long peer) : slot_(begin_call(call, name, peer)) {}
  ~CallScope() { end_call(slot_); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  watchdog_internal::Slot* slot_;
};

// Within it the call in progress is not timed: it works, for as long as there is work.
class UntimedScope {
 public:
  UntimedScope() {
    if (!watchdog_internal::running.load(std::memory_order_relaxed)) return;
    slot_ = watchdog_internal::slot_of_this_thread();
    if (slot_ != nullptr && slot_->depth > 0) advance();
  }
  ~UntimedScope() {
    if (slot_ != nullptr && slot_->depth > 0) advance();
  }
  UntimedScope(const UntimedScope&) = delete;
  UntimedScope& operator=(const UntimedScope&) = delete;

 private:
  void advance() { slot_->serial.store(slot_->serial.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  watchdog_internal::Slot* slot_ = nullptr;
};

}  // namespace armci::runtime
