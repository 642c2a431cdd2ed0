// The thread of a process that has no server: what the process has begun goes on while it computes [PROG-3].
//
// It is asleep until something has been begun that nobody waits for.
//
// Thread safety: start and stop by one thread, wake() by any; MPI is called from the thread, which needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "impl/common/status.h"
#include "impl/mpi-twosided/client.h"

namespace armci::twosided {

class Companion {
 public:
  explicit Companion(Client* client) : client_(client) {}
  ~Companion() { stop(); }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  common::Status start();
  void stop();
  // Something has been begun. Costs a load while the thread is awake.
  void wake();

 private:
  void run();

  Client* const client_;
  std::atomic<bool> leaving_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<std::uint32_t> wakes_{0};
  std::thread thread_;
};

}  // namespace armci::twosided
