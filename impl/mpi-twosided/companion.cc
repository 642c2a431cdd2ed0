#include "impl/mpi-twosided/companion.h"

#include <sys/prctl.h>

#include "impl/common/background_thread.h"
#include "impl/common/backtrace.h"
#include "impl/shmem/wait.h"

namespace armci::twosided {

using common::Status;

namespace {

constexpr std::int64_t kSleepUs = 50;  // while something is under way
constexpr int kQuietLooks = 4;
constexpr std::int64_t kRestUs = 1000;  // while another thread takes care
constexpr std::int64_t kLongestSleepUs = 1'000'000;

}  // namespace

Status Companion::start() {
  return common::start_background_thread(
      "armci-companion", [this] { run(); }, &thread_);
}

void Companion::stop() {
  leaving_.store(true);
  wake();
  if (thread_.joinable()) thread_.join();
}

// Memory ordering: sequentially consistent, so that either this sees the thread asleep or the thread what was begun.
void Companion::wake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!asleep_.load(std::memory_order_relaxed)) return;
  wakes_.fetch_add(1);
  node::futex_wake(&wakes_, 1);
}

void Companion::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds
  node::NetworkBackoff backoff(kSleepUs);
  int quiet = 0;
  while (!leaving_.load()) {
    Client::Found found = Client::Found::kNothing;
    const std::uint32_t seen = wakes_.load();
    // Looked at once more when asleep_ is visible: what was begun before that wakes nobody.
    if (quiet > kQuietLooks) asleep_.store(true);
    const Status status = client_->help(&found);
    if (!status.ok()) {
      common::print_failure("companion", common::last_cause());
      common::die(status.value());
    }
    if (found != Client::Found::kNothing || leaving_.load()) {
      asleep_.store(false);
      quiet = 0;
    } else {
      ++quiet;
    }
    if (found == Client::Found::kSomebody) {
      node::futex_wait(&wakes_, seen, kRestUs);
    } else if (asleep_.load()) {
      node::futex_wait(&wakes_, seen, kLongestSleepUs);
      asleep_.store(false);
      quiet = 0;
      backoff.restart();
    } else {
      backoff.step();
    }
  }
}

}  // namespace armci::twosided
