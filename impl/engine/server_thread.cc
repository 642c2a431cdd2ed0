// The life of a server, and the passes over its queues.
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/engine/client.h"
#include "impl/engine/server.h"
#include "impl/node/mpi_progress.h"
#include "impl/node/waiter.h"
#include "impl/runtime/background_thread.h"

namespace armci::engine {

namespace {

// Linux lengthens sleeps by up to the timer slack.
void shorten_sleeps() { prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); }  // nanoseconds

// `client`: may be null.
Client::Progress make_progress(Client* client) {
  Client::Progress found = Client::Progress::kIdle;
  if (client != nullptr && !client->progress(&found).ok()) die_of_failure("server");
  return found;
}

bool is_pending(Client::Progress found) {
  return found == Client::Progress::kPending || found == Client::Progress::kBusy;
}

}  // namespace

Status Server::start(Client* client, ClientWire* client_wire, const char* thread_name) {
  client_ = client;
  client_wire_ = client_wire;
  return runtime::start_background_thread(
      thread_name, [this] { run([this] { return stopping_.load(std::memory_order_relaxed); }); }, &thread_);
}

void Server::serve_in_mpi_waits() {
  in_mpi_waits_ = true;
  node::set_mpi_pass([](void* server) { static_cast<Server*>(server)->serve_while_waiting(); }, this);
}

void Server::stop() {
  if (std::exchange(in_mpi_waits_, false)) node::set_mpi_pass(nullptr, nullptr);
  if (!stopping_.exchange(true)) wake();
  if (thread_.joinable()) thread_.join();
  wire_.close();
}

void Server::wake() {
  event_count_.notify();
  if (wire_.has_events()) wire_.wake();
}

// --- passes

bool Server::pass() {
  bool busy = false;
  const Status status = step(&busy);
  streaming_.store(wire_.is_streaming(), std::memory_order_relaxed);
  // The origin of the request would hang: it waits for the reply.
  if (!status.ok()) die_of_failure("server");
  return busy;
}

Status Server::step(bool* busy) {
  ARMCI_RETURN_IF_ERROR(wire_.poll(busy));
  if (*busy && ++busy_passes_ < kBusyPassesMax) return kSuccess;
  busy_passes_ = 0;
  return report_counts();
}

// The server thread reports the counts when the wait is over.
void Server::serve_while_waiting() {
  passes_.pass_while_waiting([this] { return pass(); }, [this] { wake(); });
}

// Whether a thread of the process is inside the library, between nodes.
bool Server::has_thread_inside() { return passes_.waits() || (client_ != nullptr && client_->is_in_use()); }

// --- without events: sleeps of a bounded time

void Server::run(const std::function<bool()>& over) {
  constexpr int kActiveSleepUs = 50;
  constexpr std::int64_t kComesAgainUs = 1000;  // kLater and kOtherThread
  shorten_sleeps();
  if (wire_.has_events()) return run_on_events(over);
  node::Waiter idleness(node::WaitKind::kRequests, options_.wait_us);
  node::Waiter activity(node::WaitKind::kRequests, std::min(options_.wait_us, kActiveSleepUs));
  bool will_block = false;
  bool active = false;
  while (!over()) {
    const std::uint32_t seen = will_block ? event_count_.prepare_wait() : event_count_.count();
    const bool inside = has_thread_inside();
    const bool busy = passes_.try_pass([this] { return pass(); });
    const bool streaming = streaming_.load(std::memory_order_relaxed);
    // A thread that waits in the client wakes this one if it leaves something pending.
    const Client::Progress found = make_progress(client_);
    const bool was_active = std::exchange(active, is_pending(found) || streaming);
    if (active && !was_active) activity.restart();
    if (busy || active) event_count_.cancel_wait();
    if (busy) {
      idleness.restart();
      activity.restart();
      will_block = false;
      passes_.work_found(inside);
      continue;
    }
    const bool others_serve = options_.wait_us > 0 && passes_.others_serve();
    const std::int64_t longest_us = found == Client::Progress::kIdle ? options_.wait_us : kComesAgainUs;
    const std::int64_t us = std::min(
        longest_us, others_serve ? std::min<std::int64_t>(passes_.next_sleep_us(inside, active), options_.wait_us)
                                 : (active ? activity : idleness).pause_us(streaming));
    // Polls once more after prepare_wait(): from there on a thread that issues an operation notifies this one.
    if (us > 0 && (active || will_block)) {
      passes_.set_resting(!others_serve && us > Passes::kShortestSleepUs);
      if (!passes_.has_missed_work()) event_count_.wait(seen, us);
      passes_.set_resting(false);
    }
    will_block = us > 0 && !active;
  }
}

// --- with events: sleeps until one

void Server::run_on_events(const std::function<bool()>& over) {
  constexpr unsigned kRoundsWithoutProgress = 64;
  unsigned rounds = 0;
  node::Waiter waiter(node::WaitKind::kRequests);
  while (!over()) {
    const bool inside = has_thread_inside();
    if (passes_.try_pass([this] { return pass(); })) {
      waiter.restart();
      passes_.work_found(inside);
      if (++rounds % kRoundsWithoutProgress == 0) (void)make_progress(client_);
    } else if (passes_.others_serve() && inside) {
      sleep_while_others_serve();
    } else if (waiter.pause_us(streaming_.load(std::memory_order_relaxed)) > 0) {  // else more may come at once
      rest();
    }
  }
}

// Requests do not end the sleep; wake() does, when the client needs progress.
void Server::sleep_while_others_serve() {
  const std::uint32_t seen = event_count_.prepare_wait();
  const bool pending = is_pending(make_progress(client_));
  event_count_.wait(seen, passes_.next_sleep_us(/*inside=*/true, pending));
  event_count_.cancel_wait();
}

// Sleeps until an event, after a pass that found no request.
void Server::rest() {
  constexpr std::int64_t kWithoutEnd = -1;
  constexpr std::int64_t kPendingUs = 1000;  // a caller may take the client's event, and no other come
  const Client::Progress found = make_progress(client_);
  if (found == Client::Progress::kBusy) return;
  const bool pending = found == Client::Progress::kPending;
  const Client::Armed armed = pending ? client_->arm() : Client::Armed::kOtherThread;
  if (armed == Client::Armed::kHasWork) return;
  {
    const auto lock = passes_.lock();
    if (!report_counts().ok()) die_of_failure("server");  // of what a waiting thread has executed
    if (!wire_.arm()) return;
    passes_.set_resting(true);
  }
  wire_.await_event(armed == Client::Armed::kYes ? client_wire_ : nullptr,
                    found == Client::Progress::kIdle ? kWithoutEnd : kPendingUs);
  passes_.set_resting(false);
}

}  // namespace armci::engine
