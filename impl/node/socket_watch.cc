#include "impl/node/socket_watch.h"

#include <dirent.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "impl/node/wait.h"

namespace armci::node {
namespace {

bool is_network_socket(int file) {
  int domain = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0) return false;
  return domain == AF_INET || domain == AF_INET6;
}

constexpr std::int64_t kShortestPauseUs = 1000;

}  // namespace

SocketWatch::SocketWatch() : arrivals_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SocketWatch::~SocketWatch() {
  if (arrivals_ >= 0) close(arrivals_);
  if (wake_ >= 0) close(wake_);
}

std::int64_t scan_pause_us(std::int64_t last_us, int added, std::int64_t took_us) {
  constexpr std::int64_t kLongestPauseUs = 10'000'000;
  const std::int64_t pause_us = added > 0 ? kShortestPauseUs : 2 * last_us;
  return std::min(std::max({pause_us, kShortestPauseUs, 10 * took_us}), kLongestPauseUs);
}

void SocketWatch::scan() {
  const std::int64_t start_us = now_us();
  int added = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir("/proc/self/fd"), closedir);
  while (const dirent* entry = files == nullptr ? nullptr : readdir(files.get())) {
    int file = -1;
    const char* const name = entry->d_name;
    if (std::from_chars(name, name + std::strlen(name), file).ec != std::errc() || !is_network_socket(file)) continue;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    if (epoll_ctl(arrivals_, EPOLL_CTL_ADD, file, &event) == 0) ++added;  // else, as a rule, it is there
  }
  const std::int64_t end_us = now_us();
  const std::int64_t last_us = scan_pause_us_.load(std::memory_order_relaxed);
  const std::int64_t pause_us = scan_pause_us(last_us, added, end_us - start_us);
  scan_pause_us_.store(pause_us, std::memory_order_relaxed);
  scan_at_us_.store(end_us + pause_us, std::memory_order_relaxed);
}

void SocketWatch::scan_when_due() {
  std::int64_t at_us = scan_at_us_.load(std::memory_order_relaxed);
  const std::int64_t now = now_us();
  if (now < at_us) return;
  // Of several threads only the one that moves the time scans.
  if (scan_at_us_.compare_exchange_strong(at_us, now + kShortestPauseUs, std::memory_order_relaxed)) scan();
}

bool SocketWatch::sleep(std::int64_t timeout_us) {
  // Linux leaves negative files out. epoll_wait() counts in milliseconds, ppoll() does not.
  pollfd files[] = {{wake_, POLLIN, 0}, {arrivals_, POLLIN, 0}};
  const timespec timeout = timespec_of(timeout_us);
  if (ppoll(files, 2, &timeout, nullptr) <= 0 || (files[1].revents & POLLIN) == 0) return false;
  epoll_event events[16];
  while (epoll_wait(arrivals_, events, 16, 0) == 16) {
  }
  return true;
}

void SocketWatch::sleep_through(std::int64_t timeout_us) const {
  pollfd file{wake_, POLLIN, 0};
  const timespec timeout = timespec_of(timeout_us);
  (void)ppoll(&file, 1, &timeout, nullptr);
}

void SocketWatch::wake() const {
  const std::uint64_t one = 1;
  if (wake_ >= 0) (void)!write(wake_, &one, sizeof one);
}

}  // namespace armci::node
