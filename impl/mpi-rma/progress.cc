#include "impl/mpi-rma/progress.h"

#include <algorithm>
#include <utility>

#include "impl/base/backtrace.h"
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
// Between two looks for signals while the program is inside MPI.
constexpr std::int64_t kSignalCheckUs = 50;

}  // namespace

Status ProgressThread::start(MPI_Comm comm, SignalChannel* signals, int interval_us, std::function<Status()> send_old) {
  comm_ = comm;
  signals_ = signals;
  send_old_ = std::move(send_old);
  return runtime::start_background_thread(
      "armci-progress", [this, interval_us] { run(interval_us); }, &thread_);
}

bool ProgressThread::poll_found_work() {
  const std::int64_t start_us = node::now_us();
  if (signals_ != nullptr) {
    if (signals_->serve()) return true;
  } else {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
  }
  return node::now_us() - start_us >= kPollWithWorkUs;
}

// True: a signal has arrived.
bool ProgressThread::sleep_inside(std::int64_t us) {
  while (us > 0 && !leaving_.load(std::memory_order_relaxed)) {
    const bool checks = signals_ != nullptr && signals_->came_lately();
    const std::int64_t step_us = checks ? std::min(us, kSignalCheckUs) : us;
    watch_.sleep_through(step_us);
    us -= step_us;
    if (signals_ != nullptr && signals_->has_arrived()) return true;
  }
  return false;
}

ProgressThread::~ProgressThread() {
  leaving_.store(true, std::memory_order_relaxed);
  watch_.wake();
  if (thread_.joinable()) thread_.join();
}

void ProgressThread::run(int interval_us) {
  PollPace pace(interval_us);
  watch_.scan();
  InsideMpi::State before = InsideMpi::state();
  bool announced = false;
  while (true) {
    // Data for a program that is often inside MPI would wake the thread for nothing.
    const InsideMpi::State state = InsideMpi::state();
    bool arrived = false;
    if (InsideMpi::any(state)) {
      arrived = sleep_inside(pace.sleep_us());
    } else if (state != before) {
      watch_.sleep_through(interval_us);
    } else if (signals_ != nullptr && signals_->others_serve()) {
      watch_.sleep_through(signals_->next_sleep_us());
    } else if (watch_.sleep(pace.sleep_us())) {
      announced = true;
    }
    before = state;
    if (leaving_.load(std::memory_order_relaxed)) return;
    if (!arrived && !send_old_().ok()) die_of_failure("progress thread");
    if (!arrived && InsideMpi::any() && !pace.inside()) continue;
    const bool worked = poll_found_work();
    // MPI may have left data unread, for which the socket has no other edge.
    int idle_polls = 0;
    for (int i = 1; (worked || announced) && i < kPollsAtOnce && idle_polls < kIdlePolls; ++i) {
      idle_polls = poll_found_work() ? 0 : idle_polls + 1;
    }
    // Inside MPI no socket announces anything.
    announced = announced || arrived;
    pace.polled(worked, announced);
    if (worked && !announced) watch_.scan_when_due();
    announced = false;
  }
}

}  // namespace armci::rma
