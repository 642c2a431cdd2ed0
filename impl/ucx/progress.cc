#include "impl/ucx/progress.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "impl/common/background_thread.h"
#include "impl/common/backtrace.h"

namespace armci::ucx {

using common::fail_errno;
using common::kSuccess;
using common::Status;

namespace {

// Blocked waits end this often: what UCX does by its own clock (it sends again, looks whether peers live) is no event.
constexpr int kLookAgainMs = 100;

}  // namespace

Status Progress::start() {
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return fail_errno(errno, "eventfd");
  stopping_ = false;
  return common::start_background_thread(
      "armci-ucx", [this] { run(); }, &thread_);
}

void Progress::stop() {
  if (thread_.joinable()) {
    stopping_ = true;
    wake();
    thread_.join();
  }
  if (wake_ >= 0) close(wake_);
  wake_ = -1;
}

void Progress::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

// Memory ordering: the exchange comes after what was begun became visible, and before or after the thread decides what
// to watch: it either sees the operation or is woken up.
void Progress::attend() {
  if (!watches_client_.exchange(true)) wake();
}

void Progress::run() {
  while (!stopping_.load()) {
    unsigned events = server_.worker().progress();
    // While somebody is inside a call he drives the client.
    (void)client_.try_progress(&events);
    if (events > 0) continue;
    if (const Status blocked = block(); !blocked.ok()) {
      common::print_failure("armci-ucx", common::last_cause());
      common::die(static_cast<int>(common::last_cause().code));
    }
  }
}

Status Progress::block() {
  pollfd watched[3] = {
      {wake_, POLLIN, 0}, {server_.worker().descriptor(), POLLIN, 0}, {client_.descriptor(), POLLIN, 0}};
  Status failure;
  bool busy = false;
  watches_client_.store(true);
  const bool with_client = client_.arm(&busy, &failure);
  if (!with_client) watches_client_.store(false);
  if (busy || !failure.ok()) return failure;
  if (!server_.worker().arm(&failure)) return failure;
  // Somebody may have left between the two: he saw that the client is watched.
  const nfds_t count = with_client ? 3 : 2;
  if (!with_client && client_.is_left_behind()) return kSuccess;
  const int ready = poll(watched, count, kLookAgainMs);
  if (ready < 0 && errno != EINTR) return fail_errno(errno, "poll");
  if ((watched[0].revents & POLLIN) != 0) {
    std::uint64_t all = 0;
    [[maybe_unused]] const ssize_t bytes = read(wake_, &all, sizeof all);
  }
  return kSuccess;
}

}  // namespace armci::ucx
