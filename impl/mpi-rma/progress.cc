#include "impl/mpi-rma/progress.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "impl/common/background_thread.h"
#include "impl/mpi-rma/inside_mpi.h"

namespace armci::rma {

using common::Status;

Status ProgressThread::start(MPI_Comm comm, int interval_us) {
  return common::start_background_thread(
      "armci-progress", [this, comm, interval_us] { run(comm, interval_us); }, &thread_);
}

ProgressThread::~ProgressThread() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ProgressThread::run(MPI_Comm comm, int interval_us) {
  constexpr int kLongestUs = 1000;
  std::unique_lock lock(mutex_);
  int wait_us = interval_us;
  while (!wake_.wait_for(lock, std::chrono::microseconds(wait_us), [this] { return leaving_; })) {
    if (InsideMpi::anybody()) {
      const int before_us = std::exchange(wait_us, std::max(interval_us, std::min(2 * wait_us, kLongestUs)));
      if (before_us < wait_us) continue;
    } else {
      wait_us = interval_us;
    }
    lock.unlock();
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    lock.lock();
  }
}

}  // namespace armci::rma
