// ProgressThread: lets MPI serve the other processes while the program is elsewhere.
//
// MPI libraries execute much of a one-sided operation at its target, on the CPU, and only inside calls of MPI. The
// thread calls MPI now and then and sleeps in between.
//
// While the program itself is inside MPI (inside_mpi.h) the thread would take the core and MPI's locks from the call
// that does the work: it then looks ever more rarely whether that is still so, and polls once in a millisecond.
//
// Thread safety: start and destruction by the thread that initialises. MPI is called from the thread: needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "impl/common/status.h"

namespace armci::rma {

class ProgressThread {
 public:
  ProgressThread() = default;
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Polls on `comm`, which nobody sends on, every `interval_us`; less often while others are inside MPI.
  common::Status start(MPI_Comm comm, int interval_us);

 private:
  void run(MPI_Comm comm, int interval_us);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace armci::rma
