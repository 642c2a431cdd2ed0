#include "impl/mpi-rma/progress.h"

#include <algorithm>
#include <utility>

#include "impl/base/backtrace.h"
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

// No thread of the program is inside MPI, nor has been.
bool is_alone_since(InsideMpi::State before) { return InsideMpi::state() == before && !InsideMpi::any(before); }

}  // namespace

Status ProgressThread::start(MPI_Comm comm, SignalChannel* signals, int interval_us, std::function<Status()> send_old) {
  comm_ = comm;
  signals_ = signals;
  send_old_ = std::move(send_old);
  return runtime::start_background_thread(
      "armci-progress", [this, interval_us] { run(interval_us); }, &thread_);
}

// A poll beside a call of the program waits for its locks: its length says nothing of work.
bool ProgressThread::poll_found_work() {
  const InsideMpi::State before = InsideMpi::state();
  const std::int64_t start_us = node::now_us();
  if (signals_ != nullptr) {
    if (signals_->serve()) return true;
  } else {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
  }
  return node::now_us() - start_us >= kPollWithWorkUs && is_alone_since(before);
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

// The program is inside MPI. True: the thread polls nevertheless, as a signal has arrived (then `arrived`), or one call
// of MPI has lasted for long.
bool ProgressThread::rest_inside(PollPace* pace, bool* arrived) {
  const InsideMpi::State before = InsideMpi::state();
  *arrived = sleep_inside(pace->sleep_us());
  return *arrived || (pace->inside() && InsideMpi::state() == before);
}

// Polls more than once where MPI may have left data unread, for which the socket has no other edge.
void ProgressThread::poll(PollPace* pace, bool announced) {
  const InsideMpi::State before = InsideMpi::state();
  const bool worked = poll_found_work();
  int idle_polls = 0;
  for (int i = 1; (worked || announced) && i < kPollsAtOnce && idle_polls < kIdlePolls; ++i) {
    idle_polls = poll_found_work() ? 0 : idle_polls + 1;
  }
  if (!is_alone_since(before)) return;
  pace->polled(worked, announced);
  if (worked && !announced) watch_.scan_when_due();
}

void ProgressThread::run(int interval_us) {
  PollPace pace(interval_us);
  watch_.scan();
  InsideMpi::State before = InsideMpi::state();
  while (!leaving_.load(std::memory_order_relaxed)) {
    const InsideMpi::State state = InsideMpi::state();
    const bool has_changed = std::exchange(before, state) != state;
    bool announced = false;
    bool polls = true;
    bool arrived = false;
    if (InsideMpi::any(state)) {
      polls = rest_inside(&pace, &arrived);
    } else if (has_changed) {
      // Data for a program that is often inside MPI would wake the thread for nothing.
      watch_.sleep_through(interval_us);
      polls = !InsideMpi::any() || pace.inside();
    } else if (signals_ != nullptr && signals_->others_serve()) {
      watch_.sleep_through(signals_->next_sleep_us());
    } else {
      announced = watch_.sleep(pace.sleep_us());
      polls = announced || !InsideMpi::any();
    }
    if (leaving_.load(std::memory_order_relaxed)) return;
    if (!arrived && !send_old_().ok()) die_of_failure("progress thread");
    if (polls) poll(&pace, announced || arrived);
  }
}

}  // namespace armci::rma
