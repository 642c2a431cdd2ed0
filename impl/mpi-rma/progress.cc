#include "impl/mpi-rma/progress.h"

#include <algorithm>

#include "impl/common/background_thread.h"
#include "impl/mpi-rma/poll_pace.h"
#include "impl/shmem/inside_mpi.h"
#include "impl/shmem/wait.h"

namespace armci::rma {
namespace {

using common::Status;
using node::InsideMpi;

// A poll that finds nothing takes less, also after a sleep, when it finds nothing in the caches either.
constexpr std::int64_t kPollWithWorkUs = 15;
constexpr int kPollsAtOnce = 100;
constexpr int kIdlePolls = 3;

bool poll_found_work(MPI_Comm comm) {
  const std::int64_t start_us = node::now_us();
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  return node::now_us() - start_us >= kPollWithWorkUs;
}

}  // namespace

Status ProgressThread::start(MPI_Comm comm, int interval_us) {
  return common::start_background_thread(
      "armci-progress", [this, comm, interval_us] { run(comm, interval_us); }, &thread_);
}

ProgressThread::~ProgressThread() {
  leaving_.store(true, std::memory_order_relaxed);
  watch_.wake();
  if (thread_.joinable()) thread_.join();
}

void ProgressThread::run(MPI_Comm comm, int interval_us) {
  PollPace pace(interval_us);
  scan_sockets();
  InsideMpi::State before = InsideMpi::state();
  bool announced = false;
  while (true) {
    // Data for a program that is often inside MPI would wake the thread for nothing.
    const InsideMpi::State state = InsideMpi::state();
    if (InsideMpi::anybody(state)) {
      watch_.sleep_through(pace.sleep_us());
    } else if (state != before) {
      watch_.sleep_through(interval_us);
    } else if (watch_.sleep(pace.sleep_us())) {
      announced = true;
    }
    before = state;
    if (leaving_.load(std::memory_order_relaxed)) return;
    if (InsideMpi::anybody() && !pace.inside()) continue;
    const bool worked = poll_found_work(comm);
    // MPI may have left data unread, for which there is no other announcement.
    int idle_polls = 0;
    for (int i = 1; (worked || announced) && i < kPollsAtOnce && idle_polls < kIdlePolls; ++i) {
      idle_polls = poll_found_work(comm) ? 0 : idle_polls + 1;
    }
    pace.polled(worked, announced);
    if (worked && !announced && node::now_us() >= scan_at_us_) scan_sockets();
    announced = false;
  }
}

// MPI may open a socket whenever a process is addressed for the first time. Where MPI needs none, scans get rare.
void ProgressThread::scan_sockets() {
  constexpr std::int64_t kFirstPauseUs = 100'000;
  constexpr std::int64_t kLongestPauseUs = 10'000'000;
  const int watched = watch_.scan();
  scan_pause_us_ = watched != watched_ ? kFirstPauseUs : std::min(2 * scan_pause_us_, kLongestPauseUs);
  watched_ = watched;
  scan_at_us_ = node::now_us() + scan_pause_us_;
}

}  // namespace armci::rma
