#include "impl/shmem/waiter.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "impl/shmem/mpi_progress.h"

namespace armci::node {
namespace {

// How sleeps grow.
enum class Sleep : std::uint8_t {
  kLonger,  // each half as long again as the one before
  kShare,   // an eighth of the time that nothing has come
};

struct Policy {
  const char* name;
  Sleep sleep;
  std::int64_t first_us;    // the first sleep
  std::int64_t longest_us;  // the longest, until the wait has lasted 32 times as long
  bool reported;            // threads of the program wait so
  // Between sleeps. Not servers, which call MPI all the time or may not at all, nor what itself is a call of MPI.
  bool polls_mpi;
};

constexpr std::array<Policy, kWaitKinds> kPolicies = {{
    {"a barrier", Sleep::kLonger, 20, 1000, true, true},
    {"a mutex of its node", Sleep::kLonger, 20, 1000, true, true},
    {"its turn at a mutex among its threads", Sleep::kLonger, 20, 1000, true, true},
    {"a mutex of another node", Sleep::kLonger, 20, 1000, true, true},
    {"the process that is next at a mutex", Sleep::kLonger, 20, 1000, true, true},
    {"a notification", Sleep::kLonger, 20, 1000, true, true},
    {"a signal", Sleep::kLonger, 20, 1000, true, true},
    {"an accumulate of another process to the same elements", Sleep::kLonger, 20, 1000, false, false},
    {"an answer of another node", Sleep::kLonger, 20, 1000, true, true},
    {"operations under way", Sleep::kShare, 10, 100, true, true},
    {"an answer of another node", Sleep::kShare, 10, 100, true, true},
    {"the accumulates of another process to the same target", Sleep::kLonger, 20, 1000, true, true},
    {"the other nodes in a barrier", Sleep::kShare, 10, 1000, true, false},
    {"what other threads begin", Sleep::kShare, 10, 100, false, false},
    {"requests", Sleep::kShare, 10, 100, false, false},
}};

// The busy part of these is ARMCI_SPIN turns without a system call, then some yields. That of the others is some time:
// a look costs more than a turn, as it goes into the network's library, and each yield gives a program that computes a
// whole turn of the scheduler, during which a thread that has to answer another node is missing.
constexpr bool is_counted(WaitKind kind) { return kind < WaitKind::kOperations; }

constexpr const Policy& policy_of(WaitKind kind) { return kPolicies[static_cast<std::size_t>(kind)]; }

// After a tenth of a second a wait may cost no more than a hundredth of a core or two, and a wake-up takes up to 40 us
// of it. Later sleeps are a 32nd of the wait so far, up to this.
constexpr std::int64_t kLongestSleepUs = 4000;
constexpr std::int64_t kSleepShare = 32;

constexpr int kYields = 20;
constexpr std::int64_t kLookUs = 60;  // a round trip or two
constexpr std::int64_t kLookWhenStreamingUs = 2000;
constexpr std::int64_t kLookWhenSharedUs = 5;

// MPI is polled this long after the busy part, then each time that a part of the wait has passed again, within limits.
// A poll that found work takes longer than the limit given here, and the next one follows at once.
constexpr std::int64_t kFirstPollUs = 50;
constexpr std::int64_t kFirstPollWhenSharedUs = 400;
constexpr std::int64_t kLongestPollUs = kLongestSleepUs;
constexpr std::int64_t kLongestUnpolledUs = 2000;  // of short waits one after the other
constexpr std::int64_t kPollShare = 8;
constexpr std::int64_t kPollWithWorkUs = 10;

std::int64_t first_poll_us() { return has_free_cores() ? kFirstPollUs : kFirstPollWhenSharedUs; }

void sleep_for(std::int64_t us) {
  const timespec pause{0, us * 1000};
  nanosleep(&pause, nullptr);
}

struct Totals {
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> microseconds{0};
};
std::array<Totals, kWaitKinds> totals;

constexpr int kRecordsMax = 64;
constexpr int kNobody = 0;
constexpr int kBeingWritten = -1;

}  // namespace

struct Waiter::Record {
  std::atomic<int> tid{kNobody};
  std::atomic<WaitKind> kind{WaitKind::kBarrier};
  std::atomic<std::int64_t> since_us{0};
};

static std::array<Waiter::Record, kRecordsMax> records;
// Of threads for which there is none; nobody reads it.
static Waiter::Record unlisted;

constinit thread_local std::uint32_t Waiter::turns_ = 0;
// When this thread polled MPI last.
static thread_local std::int64_t polled_at_us = 0;

const char* wait_name(WaitKind kind) { return policy_of(kind).name; }

bool Waiter::busy_after_spins(bool streaming) {
  if (is_counted(kind_) && spins_ < spin_iterations() + kYields) {
    ++spins_;
    sched_yield();
    return true;
  }
  const std::int64_t now = now_us();
  if (since_us_ == 0) begin(now);
  if (poll_at_us_ != 0 && now >= poll_at_us_) {
    poll_mpi(now);
    return true;
  }
  if (!is_counted(kind_)) {
    // Waits for a network are often over before they poll.
    if (poll_at_us_ != 0 && now - polled_at_us >= kLongestUnpolledUs) poll_mpi(now);
    const std::int64_t look = !has_free_cores() ? kLookWhenSharedUs : streaming ? kLookWhenStreamingUs : kLookUs;
    if (now - since_us_ < look) {
      cpu_relax();
      return true;
    }
  }
  if (record_ == nullptr && policy_of(kind_).reported) enter();
  return false;
}

void Waiter::begin(std::int64_t now_us) {
  since_us_ = now_us;
  sleep_us_ = policy_of(kind_).first_us;
  checked_at_us_ = now_us;
  if (longest_us_ == kOwn) {
    longest_us_ = policy_of(kind_).longest_us;
    longest_grows_ = true;
  }
  // A wait that begins anew goes on polling: what comes to it without end need not come to MPI.
  if (poll_at_us_ == 0 && policy_of(kind_).polls_mpi && may_poll_mpi()) {
    poll_at_us_ = now_us + (is_counted(kind_) ? 0 : kLookUs) + first_poll_us();
  }
}

void Waiter::after_turns() {
  turns_ = 0;
  if (!policy_of(kind_).polls_mpi || node::now_us() - polled_at_us < kLongestUnpolledUs || !may_poll_mpi()) return;
  poll_mpi_progress();
  polled_at_us = node::now_us();
}

void Waiter::poll_mpi(std::int64_t now_us) {
  poll_mpi_progress();
  const std::int64_t end_us = node::now_us();
  polled_at_us = end_us;
  const std::int64_t pause = std::clamp((end_us - since_us_) / kPollShare, first_poll_us(), kLongestPollUs);
  poll_at_us_ = end_us + (end_us - now_us >= kPollWithWorkUs ? std::min(pause, end_us - now_us) : pause);
}

void Waiter::step(bool streaming) {
  const std::int64_t us = pause_us(streaming);
  if (us > 0) sleep_for(us);
}

void Waiter::step_behind(std::int64_t ahead) {
  if (ahead != ahead_) {
    ahead_ = ahead;
    restart();
  }
  if (ahead > 1 ? idle() : busy()) return;
  sleep_us_ = std::max(sleep_us_, std::min(policy_of(kind_).first_us * ahead, longest_us_));
  sleep_for(sleep_us());
}

std::int64_t Waiter::sleep_us() {
  if (longest_us_ == 0) {
    sched_yield();
    return 0;
  }
  const std::int64_t now = now_us();
  const std::int64_t grown = longest_grows_ ? std::min((now - since_us_) / kSleepShare, kLongestSleepUs) : 0;
  const std::int64_t longest_us = std::max(longest_us_, grown);
  std::int64_t us = 0;
  if (policy_of(kind_).sleep == Sleep::kShare) {
    us = std::min(std::max((now - since_us_) / 8, policy_of(kind_).first_us), longest_us);
  } else {
    us = std::min(sleep_us_, longest_us);
    sleep_us_ = std::min(us + us / 2, longest_us);
  }
  return bounded_us(us);
}

void Waiter::sleep_on(const std::atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t longest_us,
                      std::uint32_t bits) {
  futex_wait_bits(word, expected, bits, bounded_us(longest_us));
}

std::int64_t Waiter::bounded_us(std::int64_t longest_us) const {
  return poll_at_us_ == 0 ? longest_us : std::clamp(poll_at_us_ - now_us(), std::int64_t{1}, longest_us);
}

bool Waiter::liveness_due() {
  if (since_us_ == 0) return false;
  const std::int64_t now = now_us();
  if (now - checked_at_us_ < kLivenessPeriodUs) return false;
  checked_at_us_ = now;
  return true;
}

// --- what is waited for

void Waiter::enter() {
  entered_us_ = since_us_;
  const int tid = static_cast<int>(syscall(SYS_gettid));
  for (Record& record : records) {
    int nobody = kNobody;
    if (record.tid.load(std::memory_order_relaxed) != nobody ||
        !record.tid.compare_exchange_strong(nobody, kBeingWritten, std::memory_order_acquire)) {
      continue;
    }
    record.kind.store(kind_, std::memory_order_relaxed);
    record.since_us.store(since_us_, std::memory_order_relaxed);
    record.tid.store(tid, std::memory_order_release);
    record_ = &record;
    return;
  }
  record_ = &unlisted;
}

void Waiter::leave() {
  Totals& total = totals[static_cast<std::size_t>(kind_)];
  total.waits.fetch_add(1, std::memory_order_relaxed);
  total.microseconds.fetch_add(static_cast<std::uint64_t>(now_us() - entered_us_), std::memory_order_relaxed);
  if (record_ != &unlisted) record_->tid.store(kNobody, std::memory_order_release);
  record_ = nullptr;
}

void visit_waits(WaitVisit visit, void* self) {
  for (const Waiter::Record& record : records) {
    const int tid = record.tid.load(std::memory_order_acquire);
    if (tid <= 0) continue;
    visit(self, tid, record.kind.load(std::memory_order_relaxed), record.since_us.load(std::memory_order_relaxed));
  }
}

WaitTotals wait_totals(WaitKind kind) {
  const Totals& total = totals[static_cast<std::size_t>(kind)];
  return {total.waits.load(std::memory_order_relaxed), total.microseconds.load(std::memory_order_relaxed)};
}

void reset_wait_totals() {
  for (Totals& total : totals) {
    total.waits.store(0, std::memory_order_relaxed);
    total.microseconds.store(0, std::memory_order_relaxed);
  }
}

}  // namespace armci::node
