#include "impl/mpi-twosided/progress_thread.h"

#include <sys/prctl.h>

#include "impl/base/backtrace.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"

namespace armci::twosided {

namespace {

constexpr std::int64_t kSleepUs = 50;  // while an operation is pending
constexpr int kQuietPolls = 4;
constexpr std::int64_t kRestUs = 1000;  // while another thread makes progress, or only short messages are pending
constexpr std::int64_t kLongestSleepUs = 1'000'000;

}  // namespace

Status ProgressThread::start() {
  return runtime::start_background_thread(
      "armci-progress", [this] { run(); }, &thread_);
}

void ProgressThread::stop() {
  stopping_.store(true);
  event_count_.notify();
  if (thread_.joinable()) thread_.join();
}

void ProgressThread::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds
  node::Waiter waiter(node::WaitKind::kWork, kSleepUs);
  int quiet = 0;
  bool rests = false;
  while (!stopping_.load()) {
    // From here on a thread that issues an operation notifies this one.
    const bool will_block = rests || quiet > kQuietPolls;
    const std::uint32_t seen = will_block ? event_count_.prepare_wait() : event_count_.count();
    engine::Client::Progress found = engine::Client::Progress::kIdle;
    const Status status = client_->progress(&found);
    if (!status.ok()) {
      die_of_failure("progress thread");
    }
    rests = found == engine::Client::Progress::kOtherThread || found == engine::Client::Progress::kLater;
    quiet = found == engine::Client::Progress::kIdle ? quiet + 1 : 0;
    const bool pending = found == engine::Client::Progress::kPending || found == engine::Client::Progress::kBusy;
    if (pending || stopping_.load()) {
      event_count_.cancel_wait();
      waiter.step();
    } else if (!will_block) {
      // One more poll precedes a rest.
      if (!rests) waiter.step();
    } else {
      event_count_.wait(seen, rests ? kRestUs : kLongestSleepUs);
      event_count_.cancel_wait();
      quiet = 0;
      waiter.restart();
    }
  }
}

}  // namespace armci::twosided
