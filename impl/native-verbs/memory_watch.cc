#include "impl/native-verbs/memory_watch.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "impl/runtime/background_thread.h"

namespace armci::verbs {

namespace {

uffdio_range range_of(const Range& range) { return {range.begin, range.end - range.begin}; }

// The descriptor of this process. A child must not keep it open: the process would block when it frees memory, since no
// thread of the child reads the events.
std::atomic<int> the_descriptor{-1};

void close_in_child() {
  if (const int descriptor = the_descriptor.exchange(-1); descriptor >= 0) close(descriptor);
}

}  // namespace

MemoryWatch::~MemoryWatch() {
  if (listener_.joinable()) {
    const std::uint64_t one = 1;
    (void)!write(wake_, &one, sizeof one);
    listener_.join();
  }
  if (wake_ >= 0) close(wake_);
  the_descriptor.store(-1);
  if (descriptor_ >= 0) close(descriptor_);
}

bool MemoryWatch::start() {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY;  // allowed to every user
  descriptor_ = static_cast<int>(syscall(SYS_userfaultfd, kFlags));
  if (descriptor_ < 0) return false;
  static const bool registered = pthread_atfork(nullptr, nullptr, close_in_child) == 0;
  if (!registered) return false;
  the_descriptor.store(descriptor_);
  uffdio_api wanted{};
  wanted.api = UFFD_API;
  wanted.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE |
                    UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_MINOR_SHMEM;
  if (ioctl(descriptor_, UFFDIO_API, &wanted) != 0) return false;
  wake_ = eventfd(0, EFD_CLOEXEC);
  return wake_ >= 0 && runtime::start_background_thread(
                           "armci-watch", [this] { listen(); }, &listener_)
                           .ok();
}

bool MemoryWatch::watch(const Range& range) {
  // Minor faults exist for shared memory only: the kernel accepts this mode there, and refuses it for other memory.
  uffdio_register shared{range_of(range), UFFDIO_REGISTER_MODE_MINOR, 0};
  if (ioctl(descriptor_, UFFDIO_REGISTER, &shared) == 0) {
    uffdio_range all = range_of(range);
    (void)ioctl(descriptor_, UFFDIO_UNREGISTER, &all);
    return false;
  }
  // No page is protected: what counts is the mark.
  uffdio_register anonymous{range_of(range), UFFDIO_REGISTER_MODE_WP, 0};
  return ioctl(descriptor_, UFFDIO_REGISTER, &anonymous) == 0 && unchanged(range);
}

// Takes a protection off that no page has: refused unless all of it is marked memory, and while it is being moved.
bool MemoryWatch::unchanged(const Range& range) const {
  uffdio_writeprotect none{range_of(range), 0};
  return ioctl(descriptor_, UFFDIO_WRITEPROTECT, &none) == 0;
}

void MemoryWatch::listen() {
  std::array<pollfd, 2> sources = {{{descriptor_, POLLIN, 0}, {wake_, POLLIN, 0}}};
  for (;;) {
    (void)poll(sources.data(), sources.size(), -1);
    if ((sources[1].revents & POLLIN) != 0) return;
    if ((sources[0].revents & POLLIN) != 0) hear();
  }
}

// The call of an event returns once the event is read. The lock is held meanwhile, so that take_gone() after that call
// finds the event.
void MemoryWatch::hear() {
  std::lock_guard lock(mutex_);
  heard_any_.store(true, std::memory_order_release);
  uffd_msg event{};
  while (read(descriptor_, &event, sizeof event) == static_cast<ssize_t>(sizeof event)) {
    if (event.event == UFFD_EVENT_REMOVE || event.event == UFFD_EVENT_UNMAP) {
      note({event.arg.remove.start, event.arg.remove.end});
    } else if (event.event == UFFD_EVENT_REMAP) {
      const auto& moved = event.arg.remap;
      note({moved.from, moved.from + moved.len});
      // The mark has moved along.
      note({moved.to, moved.to + moved.len});
    }
  }
}

// Joins the last one if there is no room.
void MemoryWatch::note(const Range& range) {
  if (heard_count_ < kHeardMax) {
    heard_[heard_count_++] = range;
  } else {
    Range& last = heard_[kHeardMax - 1];
    last = {std::min(last.begin, range.begin), std::max(last.end, range.end)};
  }
}

}  // namespace armci::verbs
