#include "impl/mpi-rma/progress.h"

#include "impl/mpi-rma/poll_pace.h"
#include "impl/node/inside_mpi.h"
#include "impl/node/wait.h"
#include "impl/runtime/background_thread.h"

namespace armci::rma {
namespace {
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
  return runtime::start_background_thread(
      "armci-progress", [this, comm, interval_us] { run(comm, interval_us); }, &thread_);
}

ProgressThread::~ProgressThread() {
  leaving_.store(true, std::memory_order_relaxed);
  watch_.wake();
  if (thread_.joinable()) thread_.join();
}

void ProgressThread::run(MPI_Comm comm, int interval_us) {
  PollPace pace(interval_us);
  watch_.scan();
  InsideMpi::State before = InsideMpi::state();
  bool announced = false;
  while (true) {
    // Data for a program that is often inside MPI would wake the thread for nothing.
    const InsideMpi::State state = InsideMpi::state();
    if (InsideMpi::any(state)) {
      watch_.sleep_through(pace.sleep_us());
    } else if (state != before) {
      watch_.sleep_through(interval_us);
    } else if (watch_.sleep(pace.sleep_us())) {
      announced = true;
    }
    before = state;
    if (leaving_.load(std::memory_order_relaxed)) return;
    if (InsideMpi::any() && !pace.inside()) continue;
    const bool worked = poll_found_work(comm);
    // MPI may have left data unread, for which the socket has no other edge.
    int idle_polls = 0;
    for (int i = 1; (worked || announced) && i < kPollsAtOnce && idle_polls < kIdlePolls; ++i) {
      idle_polls = poll_found_work(comm) ? 0 : idle_polls + 1;
    }
    pace.polled(worked, announced);
    if (worked && !announced) watch_.scan_when_due();
    announced = false;
  }
}

}  // namespace armci::rma
