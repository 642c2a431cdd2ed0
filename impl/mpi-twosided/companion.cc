#include "impl/mpi-twosided/companion.h"

#include <sys/prctl.h>

#include "impl/base/backtrace.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"

namespace armci::twosided {

namespace {

constexpr std::int64_t kSleepUs = 50;  // while something is under way
constexpr int kQuietLooks = 4;
constexpr std::int64_t kRestUs = 1000;  // while another thread takes care
constexpr std::int64_t kLongestSleepUs = 1'000'000;

}  // namespace

Status Companion::start() {
  return runtime::start_background_thread(
      "armci-companion", [this] { run(); }, &thread_);
}

void Companion::stop() {
  leaving_.store(true);
  event_count_.notify();
  if (thread_.joinable()) thread_.join();
}

void Companion::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds
  node::Waiter waiter(node::WaitKind::kWork, kSleepUs);
  int quiet = 0;
  bool rests = false;
  while (!leaving_.load()) {
    // Whoever begins something then wakes it.
    const bool sleepy = rests || quiet > kQuietLooks;
    const std::uint32_t seen = sleepy ? event_count_.prepare_wait() : event_count_.count();
    Client::Found found = Client::Found::kNothing;
    const Status status = client_->help(&found);
    if (!status.ok()) {
      die_of_failure("companion");
    }
    rests = found == Client::Found::kSomebody;
    quiet = found == Client::Found::kNothing ? quiet + 1 : 0;
    if (found == Client::Found::kSomething || leaving_.load()) {
      event_count_.cancel_wait();
      waiter.step();
    } else if (!sleepy) {
      // Resting begins with one more look.
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
