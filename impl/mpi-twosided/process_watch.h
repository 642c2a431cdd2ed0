// ProcessWatch: detects the end of another process of this node, or a timeout, without MPI.
//
// The first process of a node and the server process watch each other. If one is killed, the other ends at once, even
// while it waits.
//
// Thread safety: start and stop by one thread. The callbacks run in a thread of the watch.
#pragma once

#include <sys/types.h>

#include <functional>
#include <thread>

#include "impl/base/status.h"

namespace armci::twosided {

class ProcessWatch {
 public:
  ProcessWatch() = default;
  ~ProcessWatch() { stop(); }
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Calls `ended` when the process ends, or at once if it has ended already. On a kernel without pidfd_open
  // (before 5.3) `ended` is never called.
  Status start_for(pid_t pid, std::function<void()> ended);
  // Calls `late` unless stop() is called within that time.
  Status start_timer(int seconds, std::function<void()> late);
  // After it returns, no callback runs. May be called again, and before any start.
  void stop();

 private:
  Status start(int process, int timeout_ms, std::function<void()> event);

  int process_ = -1;  // pidfd
  int over_ = -1;     // eventfd
  std::thread thread_;
};

}  // namespace armci::twosided
