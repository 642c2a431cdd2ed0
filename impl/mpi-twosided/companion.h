// The thread of a process that has no server: what the process has begun goes on while it computes [PROG-3].
//
// It is asleep until something has been begun that nobody waits for.
//
// Thread safety: start and stop by one thread; MPI is called from the thread, which needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <atomic>
#include <thread>

#include "impl/base/status.h"
#include "impl/mpi-twosided/client.h"
#include "impl/mpi-twosided/event_count.h"

namespace armci::twosided {

class Companion {
 public:
  explicit Companion(Client* client) : client_(client) {}
  ~Companion() { stop(); }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  Status start();
  void stop();
  // For those who have begun something.
  EventCount& event_count() { return event_count_; }

 private:
  void run();

  Client* const client_;
  std::atomic<bool> leaving_{false};
  EventCount event_count_;
  std::thread thread_;
};

}  // namespace armci::twosided
