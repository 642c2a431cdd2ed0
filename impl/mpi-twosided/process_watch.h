// ProcessWatch: learns of the end of another process of this machine, or that time is up, without asking MPI.
//
// A node's first process watches its server process and is watched by it: whoever of the two is killed, the other one
// ends at once, whatever it waits for.
//
// Thread safety: start and stop by one thread. What is called runs in a thread of the watch's own.
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

  // Calls `ended` once the process has ended, which it may have already. A kernel without pidfd_open (before 5.3)
  // watches nothing.
  Status start_for(pid_t pid, std::function<void()> ended);
  // Calls `late` unless stop() comes within that time.
  Status start_timer(int seconds, std::function<void()> late);
  // Nothing is called any more once it returns. May be called again, and before any start.
  void stop();

 private:
  Status start(int process, int timeout_ms, std::function<void()> event);

  int process_ = -1;  // pidfd
  int over_ = -1;     // eventfd
  std::thread thread_;
};

}  // namespace armci::twosided
