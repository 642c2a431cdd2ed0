// ServerProcesses: the servers of all nodes as processes, started with MPI_Comm_spawn, as the job's processes see them.
//
// A server process maps its node's memory as a guest and serves as the thread does (server.h). It needs nothing of
// MPI's thread levels. What passes between both sides: enlist.h.
//
// A server process that dies ends the job: the first process of its node watches it. One whose node's first process
// dies ends as well.
//
// Thread safety: none; start and stop are collective.
#pragma once

#include <mpi.h>

#include <atomic>

#include "impl/base/status.h"
#include "impl/mpi-twosided/enlist.h"
#include "impl/mpi-twosided/process_watch.h"
#include "impl/runtime/world.h"

namespace armci::twosided {

class ServerProcesses {
 public:
  ServerProcesses() = default;
  ServerProcesses(const ServerProcesses&) = delete;
  ServerProcesses& operator=(const ServerProcesses&) = delete;
  // Without stop() the servers notice the end of the process by themselves.
  ~ServerProcesses() { watch_.stop(); }

  // Collective. On failure it fails on all processes, and no server is left.
  Status start(const runtime::World& world, const Terms& terms);
  // Collective, after every process has said goodbye to the servers.
  void stop();

  const Comms& comms() const { return circle_.comms; }

 private:
  Status spawn(const runtime::World& world);
  Status instruct(const runtime::World& world, Terms terms, int* pid);

  Circle circle_;
  int server_ = -1;  // of this process's node, on its first process
  bool serving_ = false;
  ProcessWatch watch_;
  std::atomic<const char*> step_{""};  // what a start that hangs waits for
};

}  // namespace armci::twosided
