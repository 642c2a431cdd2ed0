#include "impl/mpi-twosided/process_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "impl/runtime/background_thread.h"

namespace armci::twosided {

Status ProcessWatch::start_for(pid_t pid, std::function<void()> ended) {
  constexpr int kForever = -1;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process >= 0) return start(process, kForever, std::move(ended));
  if (errno == ESRCH) return ended(), kSuccess;
  if (errno == ENOSYS) return kSuccess;
  return fail_errno(errno, "the process cannot watch process %d; raise the limit on open files (ulimit -n)",
                    static_cast<int>(pid));
}

Status ProcessWatch::start_timer(int seconds, std::function<void()> late) {
  constexpr int kNoProcess = -1;
  return start(kNoProcess, seconds * 1000, std::move(late));
}

Status ProcessWatch::start(int process, int timeout_ms, std::function<void()> event) {
  process_ = process;
  over_ = eventfd(0, EFD_CLOEXEC);
  if (over_ < 0) {
    const int error = errno;
    stop();
    return fail_errno(
        error, "the process cannot create a descriptor for its watch; raise the limit on open files (ulimit -n)");
  }
  const auto body = [watched = process_, over = over_, timeout_ms, event = std::move(event)] {
    pollfd entries[2] = {{over, POLLIN, 0}, {watched, POLLIN, 0}};
    int ready = 0;
    do {
      ready = poll(entries, 2, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (entries[0].revents == 0) event();
  };
  const Status started = runtime::start_background_thread("armci-watch", body, &thread_);
  if (!started.ok()) stop();
  return started;
}

void ProcessWatch::stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(over_, &one, sizeof one);
    thread_.join();
  }
  if (process_ >= 0) close(process_);
  if (over_ >= 0) close(over_);
  process_ = over_ = -1;
}

}  // namespace armci::twosided
