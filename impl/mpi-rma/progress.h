// ProgressThread: calls MPI, so that MPI serves the other processes while the program computes.
//
// MPI libraries execute much of a one-sided operation at its target, on the CPU, and only inside calls of MPI. The
// thread polls MPI when data arrives at a socket, and at intervals for networks without sockets (poll_pace.h).
//
// While the program itself is inside MPI (impl/node/inside_mpi.h) the thread would take the core and MPI's locks from
// the call that does the work. The thread then polls once in a millisecond, and no socket wakes it.
//
// Thread safety: start and destruction by the thread that initialises. MPI is called from the thread: needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "impl/base/status.h"
#include "impl/node/socket_watch.h"

namespace armci::rma {

class ProgressThread {
 public:
  ProgressThread() = default;
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Polls on `comm`, on which no process sends. `interval_us`: ARMCI_RMA_PROGRESS.
  Status start(MPI_Comm comm, int interval_us);

 private:
  void run(MPI_Comm comm, int interval_us);

  node::SocketWatch watch_;
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace armci::rma
