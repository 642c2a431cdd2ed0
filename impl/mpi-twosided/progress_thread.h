// The progress thread of a process that has no server thread. Operations of the process progress while the program
// computes [PROG-3].
//
// The thread blocks until an operation is pending and no other thread waits for it.
//
// Thread safety: start() and stop() by one thread. The progress thread calls MPI, which needs MPI_THREAD_MULTIPLE.
#pragma once

#include <atomic>
#include <thread>

#include "impl/base/status.h"
#include "impl/engine/client.h"
#include "impl/engine/event_count.h"

namespace armci::twosided {

class ProgressThread {
 public:
  explicit ProgressThread(engine::Client* client) : client_(client) {}
  ~ProgressThread() { stop(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  Status start();
  void stop();
  // To be notified when an operation is issued.
  engine::EventCount& event_count() { return event_count_; }

 private:
  void run();

  engine::Client* const client_;
  std::atomic<bool> stopping_{false};
  engine::EventCount event_count_;
  std::thread thread_;
};

}  // namespace armci::twosided
