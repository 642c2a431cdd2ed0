// ProgressThread: calls MPI, so that MPI serves the other processes while the program computes.
//
// MPI libraries execute much of a one-sided operation at its target, on the CPU, and only inside calls of MPI. The
// thread polls MPI when data arrives at a socket, and at intervals for networks without sockets (poll_pace.h).
//
// While the program itself is inside MPI (impl/node/inside_mpi.h) the thread would take the core and MPI's locks from
// the call that does the work. The thread then polls once in each millisecond that one call lasts, and no socket wakes
// it. The time of a poll beside such a call is mostly a wait for MPI's locks, so it sets no pace. While signals come
// the thread reads every 50 us whether one has arrived, without a call of MPI: no call of the program takes signals.
//
// A thread that waits in the library and takes signals needs the core as well. This thread then sleeps 100 us to 1 ms
// between two polls (impl/engine/passes.h).
//
// Thread safety: start and destruction by the thread that initialises. MPI is called from the thread: needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "impl/base/status.h"
#include "impl/mpi-rma/poll_pace.h"
#include "impl/mpi-rma/signal_channel.h"
#include "impl/node/socket_watch.h"

namespace armci::rma {

class ProgressThread {
 public:
  ProgressThread() = default;
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Polls on `comm`, on which no process sends, or takes the signals of a channel (nullptr: none). `interval_us`:
  // ARMCI_RMA_PROGRESS. `send_old` is called in each turn that finds no signal.
  Status start(MPI_Comm comm, SignalChannel* signals, int interval_us, std::function<Status()> send_old);

 private:
  void run(int interval_us);
  bool poll_found_work();
  void poll(PollPace* pace, bool announced);
  bool sleep_inside(std::int64_t us);
  bool rest_inside(PollPace* pace, bool* arrived);

  MPI_Comm comm_ = MPI_COMM_NULL;
  SignalChannel* signals_ = nullptr;
  std::function<Status()> send_old_;
  node::SocketWatch watch_;
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace armci::rma
