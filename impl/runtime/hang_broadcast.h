// HangBroadcast notifies the processes of other nodes that a process hangs: each prints its own state before the job
// ends (ARMCI_TIMEOUT).
//
//   watchdog of P, node 0          thread of P                 thread of the first rank of node 1
//   announce(): node's flag set    kHangs ------------------>  node's flag set: watchdogs there print
//   prints its state               ...                         all of the node have printed
//   complete()? not yet            counts node 1  <----------  kPrinted
//   complete(): ends the job
//
// The broadcast has its own thread: a watchdog must not call MPI, where the hanging thread may hold a lock. The thread
// runs where the job has several nodes, all processes have a time limit, and MPI grants MPI_THREAD_MULTIPLE. Elsewhere
// the flag in node memory reaches the processes of the same node only.
//
// Thread safety: start() and stop() by one thread, collective; the others by any.
#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "impl/base/status.h"
#include "impl/runtime/world.h"

namespace armci::runtime {

class HangBroadcast {
 public:
  // Collective over the world. `wanted`: this process has a watchdog.
  Status start(const World& world, int thread_level, bool wanted);
  // Collective where start() was. No process may call announce() afterwards.
  void stop();

  void announce();
  // Whether a process of this node has announced a hang or received an announcement.
  static bool announced();
  static void note_printed();
  // Whether all processes that the announcement can reach have printed their state.
  bool complete() const;

 private:
  void run();
  void progress();
  void notify_other_nodes();

  const World* world_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;  // not MPI_COMM_NULL: the thread runs
  std::atomic<bool> announce_requested_{false};
  std::atomic<int> nodes_printed_{0};
  bool notified_ = false;        // used by the thread only, as are the announcers
  std::vector<int> announcers_;  // on other nodes
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace armci::runtime
