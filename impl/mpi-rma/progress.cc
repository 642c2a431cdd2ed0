#include "impl/mpi-rma/progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "impl/mpi-rma/inside_mpi.h"

namespace armci::rma {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;

namespace {

// Every CPU there may be; the kernel takes away those that the job may not use.
void leave_binding(pthread_t thread) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  pthread_setaffinity_np(thread, sizeof all, &all);
}

}  // namespace

Status ProgressThread::start(MPI_Comm comm, int interval_us) {
  // Signals are for the program's threads.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    thread_ = std::thread([this, comm, interval_us] { run(comm, interval_us); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return fail(Code::kMemory, nullptr, "cannot start the progress thread: %s", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "armci-progress");
  leave_binding(thread_.native_handle());
  return kSuccess;
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
