#include "impl/runtime/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "impl/base/backtrace.h"
#include "impl/base/report_line.h"

namespace armci::runtime {

using watchdog_internal::Slot;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTickSecondsMax = 1.0;
constexpr double kTickSecondsMin = 0.005;
// The time for the other ranks to print their state, with and without notice of its end.
constexpr double kKnownGraceSeconds = 10.0;
constexpr double kBlindGraceSeconds = 2.0;
constexpr int kHangStatus = 124;

// Slots are never freed, so the watchdog walks the list without a lock.
std::atomic<Slot*> slots{nullptr};

// Gives the slot back when its thread ends, also in the middle of a call.
struct SlotOwner {
  Slot* slot = nullptr;
  ~SlotOwner() {
    if (slot == nullptr) return;
    slot->depth = 0;
    const uint64_t serial = slot->serial.load(std::memory_order_relaxed);
    slot->serial.store(serial + serial % 2, std::memory_order_release);
    slot->tid.store(0, std::memory_order_release);
    slot = nullptr;
  }
};
thread_local SlotOwner owner;

int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

[[gnu::format(printf, 1, 2)]] void print_line(const char* format, ...) {
  char text[448];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ReportLine line;
  line << "watchdog: " << text;
  line.write_to(STDERR_FILENO);
}

std::string call_text(const Slot& slot) {
  const char* name = slot.name.load(std::memory_order_relaxed);
  const long peer = slot.peer.load(std::memory_order_relaxed);
  std::string text = name != nullptr ? name : "a call";
  if (peer != kNoPeer) text += " to process " + std::to_string(peer);
  return text;
}

// One line per call in progress; false when there is none.
bool print_calls_in_progress() {
  const int64_t now = now_ns();
  bool any = false;
  for (const Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    const uint64_t serial = slot->serial.load(std::memory_order_acquire);
    if (serial % 2 == 0) continue;
    any = true;
    const double seconds = slot->seen_serial == serial ? static_cast<double>(now - slot->seen_since_ns) * 1e-9 : 0.0;
    print_line("thread %d is inside %s for at least %.1f s", slot->tid.load(std::memory_order_relaxed),
               call_text(*slot).c_str(), seconds);
  }
  return any;
}

class Watchdog {
 public:
  Status start(double timeout_seconds, const WatchdogHooks& hooks);
  void stop();

 private:
  void run();
  void progress();
  void print_state();
  void report_hang(const Slot& slot);
  void wait_for_other_ranks();

  double timeout_seconds_ = 0;
  WatchdogHooks hooks_;
  bool dumped_ = false;    // state printed: once is enough
  bool reported_ = false;  // hang reported and the end of the job requested
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

Status Watchdog::start(double timeout_seconds, const WatchdogHooks& hooks) {
  if (timeout_seconds <= 0 || thread_.joinable()) return kSuccess;
  timeout_seconds_ = timeout_seconds;
  hooks_ = hooks;
  dumped_ = reported_ = false;
  stopping_ = false;
  prepare_backtraces();
  // The program's signals go to its own threads: the new thread inherits a mask that blocks them all.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status status = kSuccess;
  try {
    thread_ = std::thread(&Watchdog::run, this);
  } catch (const std::system_error& error) {
    status = fail_errno(error.code().value(),
                        "the process cannot create the thread of the watchdog; raise the limit on processes (ulimit "
                        "-u), or unset ARMCI_TIMEOUT");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ARMCI_RETURN_IF_ERROR(status);
  pthread_setname_np(thread_.native_handle(), "armci-watchdog");
  watchdog_internal::running.store(true, std::memory_order_relaxed);
  return kSuccess;
}

void Watchdog::stop() {
  watchdog_internal::running.store(false, std::memory_order_relaxed);
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::run() {
  const std::chrono::duration<double> tick(std::clamp(timeout_seconds_ / 8, kTickSecondsMin, kTickSecondsMax));
  std::unique_lock<std::mutex> lock(mutex_);
  while (!wake_.wait_for(lock, tick, [this] { return stopping_; })) {
    lock.unlock();
    progress();
    lock.lock();
  }
}

void Watchdog::progress() {
  const Slot* overdue = watchdog_internal::find_overdue(now_ns(), static_cast<int64_t>(timeout_seconds_ * 1e9));
  if (overdue != nullptr && !reported_) {
    report_hang(*overdue);
  } else if (!dumped_ && hooks_.peer_requested_dump != nullptr && hooks_.peer_requested_dump()) {
    print_line("another process hangs; the state of this one:");
    print_state();
  }
}

void Watchdog::print_state() {
  dumped_ = true;
  if (!print_calls_in_progress()) print_line("no thread is inside an ARMCI call");
  if (hooks_.dump_pending != nullptr) hooks_.dump_pending(STDERR_FILENO);
  print_all_stacks(STDERR_FILENO);
  // Only here: each rank prints once, and is counted once, also if it both hangs and received an announcement.
  if (hooks_.note_dumped != nullptr) hooks_.note_dumped();
}

void Watchdog::report_hang(const Slot& slot) {
  reported_ = true;
  print_line("%s has not returned for %.1f s (ARMCI_TIMEOUT = %g s)", call_text(slot).c_str(),
             static_cast<double>(now_ns() - slot.seen_since_ns) * 1e-9, timeout_seconds_);
  // The others begin while this rank prints.
  if (hooks_.announce_hang != nullptr) hooks_.announce_hang();
  if (!dumped_) print_state();
  print_line(
      "the job ends; raise ARMCI_TIMEOUT if the call may take that long, or set it to 0, run again and attach a "
      "debugger to the process that hangs (here %d)",
      static_cast<int>(getpid()));
  wait_for_other_ranks();
  if (hooks_.abort_job != nullptr) {
    hooks_.abort_job(kHangStatus);
  } else {
    die(kHangStatus);
  }
}

void Watchdog::wait_for_other_ranks() {
  const double grace = hooks_.dumps_complete != nullptr ? kKnownGraceSeconds : kBlindGraceSeconds;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grace));
  const timespec pause{0, 10000000};
  while (Clock::now() < end && !(hooks_.dumps_complete != nullptr && hooks_.dumps_complete())) {
    nanosleep(&pause, nullptr);
  }
}

Watchdog& watchdog() {
  // Never destroyed: a program may leave by exit() without finalize, and a joinable thread must not be destroyed.
  static Watchdog* const process_watchdog = new Watchdog;
  return *process_watchdog;
}

}  // namespace

namespace watchdog_internal {

std::atomic<bool> running{false};

Slot* slot_of_this_thread() {
  if (owner.slot != nullptr) [[likely]]
    return owner.slot;
  const int tid = own_tid();
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    int no_owner = 0;
    // Acquire: the stores of the former owner to the slot come before.
    if (slot->tid.compare_exchange_strong(no_owner, tid, std::memory_order_acquire)) return owner.slot = slot;
  }
  Slot* slot = new (std::nothrow) Slot;
  if (slot == nullptr) return nullptr;
  slot->tid.store(tid, std::memory_order_relaxed);
  slot->next = slots.load(std::memory_order_relaxed);
  while (!slots.compare_exchange_weak(slot->next, slot, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return owner.slot = slot;
}

Slot* find_overdue(int64_t now, int64_t timeout_ns) {
  Slot* longest = nullptr;
  for (Slot* slot = slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    const uint64_t serial = slot->serial.load(std::memory_order_acquire);
    if (serial % 2 == 0) continue;
    if (slot->seen_serial != serial) {
      slot->seen_serial = serial;
      slot->seen_since_ns = now;
    }
    if (now - slot->seen_since_ns < timeout_ns) continue;
    if (longest == nullptr || slot->seen_since_ns < longest->seen_since_ns) longest = slot;
  }
  return longest;
}

}  // namespace watchdog_internal

Status start_watchdog(double timeout_seconds, const WatchdogHooks& hooks) {
  return watchdog().start(timeout_seconds, hooks);
}

void stop_watchdog() { watchdog().stop(); }

}  // namespace armci::runtime
