#include "impl/mpi-rma/progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

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
  constexpr int kIntervalInsideUs = 1000;
  const auto interval = [&] {
    return std::chrono::microseconds(InsideMpi::anybody() ? std::max(interval_us, kIntervalInsideUs) : interval_us);
  };
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval(), [this] { return leaving_; })) {
    lock.unlock();
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    lock.lock();
  }
}

}  // namespace armci::rma
