#include "impl/runtime/hang_broadcast.h"

#include <chrono>

#include "impl/node/node_memory.h"
#include "impl/runtime/background_thread.h"

namespace armci::runtime {
namespace {

constexpr int kHangs = 1;
constexpr int kPrinted = 2;
constexpr std::chrono::milliseconds kEvery{100};

bool node_has_printed() {
  if (!node::node_memory().attached()) return true;
  const node::Control& control = node::node_memory().control();
  return control.dumped.load() >= static_cast<std::uint32_t>(control.peer_count);
}

// True for the first process that sets the flag.
bool set_flag_of_node() {
  return node::node_memory().attached() && node::node_memory().control().hang_announced.exchange(1) == 0;
}

int first_of_node(const World& world, int node) { return world.node(node).ranks.front(); }

// The receiver may have exited by now, so the message is not waited for.
void send_nothing(int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm, &request) == MPI_SUCCESS) MPI_Request_free(&request);
}

}  // namespace

Status HangBroadcast::start(const World& world, int thread_level, bool wanted) {
  world_ = &world;
  int possible = wanted && thread_level == MPI_THREAD_MULTIPLE && world.node_count() > 1 ? 1 : 0;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, world.comm()));
  if (possible == 0) return kSuccess;
  ARMCI_MPI(MPI_Comm_dup(world.comm(), &comm_));
  announce_requested_ = notified_ = stopping_ = false;
  nodes_printed_ = 0;
  announcers_.clear();
  return start_background_thread(
      "armci-hang", [this] { run(); }, &thread_);
}

void HangBroadcast::stop() {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void HangBroadcast::announce() {
  // One process of each node notifies the other nodes.
  if (set_flag_of_node()) announce_requested_ = true;
}

bool HangBroadcast::announced() {
  return node::node_memory().attached() && node::node_memory().control().hang_announced.load() != 0;
}

void HangBroadcast::note_printed() {
  if (node::node_memory().attached()) node::node_memory().control().dumped.fetch_add(1);
}

// The process that notified the other nodes waits for them and ends the job; the other processes leave that to it.
bool HangBroadcast::complete() const {
  if (!node_has_printed()) return false;
  return comm_ == MPI_COMM_NULL || (announce_requested_ && nodes_printed_ == world_->node_count() - 1);
}

void HangBroadcast::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!wake_.wait_for(lock, kEvery, [this] { return stopping_; })) {
    lock.unlock();
    progress();
    lock.lock();
  }
}

void HangBroadcast::progress() {
  if (announce_requested_ && !notified_) notify_other_nodes();
  MPI_Status arrived;
  for (int any = 0; MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &any, &arrived) == MPI_SUCCESS && any != 0;) {
    MPI_Recv(nullptr, 0, MPI_BYTE, arrived.MPI_SOURCE, arrived.MPI_TAG, comm_, MPI_STATUS_IGNORE);
    if (arrived.MPI_TAG == kPrinted) {
      ++nodes_printed_;
      continue;
    }
    set_flag_of_node();
    announcers_.push_back(arrived.MPI_SOURCE);
  }
  if (announcers_.empty() || !node_has_printed()) return;
  for (const int announcer : announcers_) send_nothing(announcer, kPrinted, comm_);
  announcers_.clear();
}

void HangBroadcast::notify_other_nodes() {
  notified_ = true;
  for (int node = 0; node < world_->node_count(); ++node) {
    if (node != world_->my_node()) send_nothing(first_of_node(*world_, node), kHangs, comm_);
  }
}

}  // namespace armci::runtime
