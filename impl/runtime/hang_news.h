// Tells the processes of other nodes that one hangs, so that each prints its state before the job ends (ARMCI_TIMEOUT).
//
//   watchdog of P, node 0          thread of P                 thread of the first rank of node 1
//   announce(): node's flag set    kHangs ------------------>  node's flag set: watchdogs there print
//   prints its state               ...                         all of the node have printed
//   complete()? not yet            counts node 1  <----------  kPrinted
//   complete(): ends the job
//
// A thread of its own, as a watchdog must not wait for MPI: what hangs may hang in there. It exists where there are
// several nodes, a time limit on all processes, and MPI lets any thread call it (MPI_THREAD_MULTIPLE); elsewhere only
// the processes of the same node are told, in node memory.
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

class HangNews {
 public:
  // Collective over the world. `wanted`: this process has a watchdog.
  Status start(const World& world, int thread_level, bool wanted);
  // Collective where start() was; nobody may announce any more.
  void stop();

  void announce();
  // Whether this process has been told, or has told.
  static bool announced();
  static void note_printed();
  // Whether all that can be told have printed their state.
  bool complete() const;

 private:
  void run();
  void look();
  void tell_other_nodes();

  const World* world_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;  // not MPI_COMM_NULL: the thread runs
  std::atomic<bool> to_tell_{false};
  std::atomic<int> nodes_printed_{0};
  bool told_ = false;            // used by the thread only, as are the announcers
  std::vector<int> announcers_;  // on other nodes
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace armci::runtime
