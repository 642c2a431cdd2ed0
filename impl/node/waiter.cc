#include "impl/node/waiter.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "impl/node/mpi_progress.h"

namespace armci::node {
namespace {

// How sleeps grow.
enum class Sleep : std::uint8_t {
  kLonger,  // each half as long again as the one before
  kShare,   // an eighth of the time that nothing has come
};

struct Policy {
  Sleep sleep;
  std::int64_t first_us;    // the first sleep
  std::int64_t longest_us;  // the longest, until the wait has lasted 32 times as long
  bool polls_mpi;           // between sleeps; false: the loop calls MPI itself, or the thread may not
  // Where cores are short, too, the busy part has its whole length: the other process may be on this node, where no
  // socket wakes the thread. The loop yields (mpi_wait.cc).
  bool stays_busy = false;
};

constexpr std::array<Policy, kWaitKinds> kPolicies = {{
    {Sleep::kLonger, 20, 1000, true},       // kBarrier
    {Sleep::kLonger, 20, 1000, true},       // kMutex
    {Sleep::kLonger, 20, 1000, true},       // kMutexTurn
    {Sleep::kLonger, 20, 1000, true},       // kMutexGrant
    {Sleep::kLonger, 20, 1000, true},       // kMutexSuccessor
    {Sleep::kLonger, 20, 1000, true},       // kNotification
    {Sleep::kLonger, 20, 1000, true},       // kSignal
    {Sleep::kLonger, 20, 1000, false},      // kElement
    {Sleep::kLonger, 20, 1000, true},       // kEvent
    {Sleep::kShare, 10, 100, true},         // kOperations
    {Sleep::kShare, 10, 100, true},         // kReply
    {Sleep::kLonger, 20, 1000, true},       // kAccumulateLock
    {Sleep::kShare, 10, 1000, false},       // kOtherNodes
    {Sleep::kShare, 10, 100, false, true},  // kMessage
    {Sleep::kShare, 10, 100, false, true},  // kCollective
    {Sleep::kShare, 10, 100, false},        // kWork
    {Sleep::kShare, 10, 100, false},        // kRequests
}};

constexpr const Policy& policy_of(WaitKind kind) { return kPolicies[static_cast<std::size_t>(kind)]; }

// After a tenth of a second a wait may cost no more than a hundredth of a core or two. A wake-up takes up to 40 us of
// it. Later sleeps are a 32nd of the wait so far, up to this.
constexpr std::int64_t kLongestSleepUs = 4000;
constexpr std::int64_t kSleepShare = 32;

constexpr int kYields = 20;
constexpr std::int64_t kSpinUs = 60;  // a round trip or two
// Of a loop that polls the network for an action of another process, which may send long data before its signal.
constexpr std::int64_t kSpinForSignalUs = 200;
constexpr std::int64_t kSpinWhenStreamingUs = 2000;
constexpr std::int64_t kSpinWhenSharedUs = 5;

// MPI is polled this long after the busy part, then each time that a part of the wait has passed again, within limits.
// A poll that found work takes longer than the limit given here, and the next one follows at once.
constexpr std::int64_t kFirstPollUs = 50;
// With more processes than cores a poll takes a core from the thread that the waiter waits for. Polls after 400 us made
// a mutex 1.08 times slower for which four processes contend on two cores.
constexpr std::int64_t kFirstPollWhenSharedUs = 2000;
constexpr std::int64_t kLongestPollUs = kLongestSleepUs;
constexpr std::int64_t kLongestUnpolledUs = 2000;  // of short waits one after the other
constexpr std::int64_t kPollShare = 8;
constexpr std::int64_t kPollWithWorkUs = 10;

std::int64_t first_poll_us() { return has_free_cores() ? kFirstPollUs : kFirstPollWhenSharedUs; }

void sleep_for(std::int64_t us) {
  const timespec pause{0, us * 1000};
  nanosleep(&pause, nullptr);
}

}  // namespace

constinit thread_local std::uint32_t Waiter::turns_ = 0;
// When this thread polled MPI last.
static thread_local std::int64_t polled_at_us = 0;

bool Waiter::busy_after_spins(bool streaming) {
  if (counts_spins_ && spins_ < spin_iterations() + kYields) {
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
  if (!counts_spins_) {
    // Waits for a network are often over before they poll.
    if (poll_at_us_ != 0 && now - polled_at_us >= kLongestUnpolledUs) poll_mpi(now);
    const std::int64_t usual_us = spins_are_counted(kind_) ? kSpinForSignalUs : kSpinUs;
    const bool short_of_cores = !has_free_cores() && !policy_of(kind_).stays_busy;
    const std::int64_t spin_us = short_of_cores ? kSpinWhenSharedUs : streaming ? kSpinWhenStreamingUs : usual_us;
    if (now - since_us_ < spin_us) {
      cpu_relax();
      return true;
    }
  }
  if (!reported_.entered() && wait_name(kind_) != nullptr) reported_.enter(kind_, since_us_);
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
  // A wait that begins anew goes on polling MPI, also when its condition comes true again and again.
  if (poll_at_us_ == 0 && policy_of(kind_).polls_mpi && may_poll_mpi()) {
    poll_at_us_ = now_us + (counts_spins_ ? 0 : kSpinUs) + first_poll_us();
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

bool Waiter::period_over() {
  const std::int64_t now = now_us();
  if (now - checked_at_us_ < kLivenessPeriodUs) return false;
  checked_at_us_ = now;
  return true;
}

}  // namespace armci::node
