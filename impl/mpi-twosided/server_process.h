// ServerProcesses: the servers of all nodes as processes, started with MPI_Comm_spawn, as the job's processes see them.
//
// A server process maps its node's memory as a guest and serves as the thread does (impl/engine/server.h). A server
// process works at every thread level of MPI. The messages between both sides: server_bootstrap.h.
//
// The first process of a node watches the server process, and a server process that dies ends the job. The server
// process watches the first process of its node, and ends when that process dies.
//
// Thread safety: none; start and stop are collective.
#pragma once

#include <mpi.h>

#include <atomic>

#include "impl/base/status.h"
#include "impl/mpi-twosided/process_watch.h"
#include "impl/mpi-twosided/server_bootstrap.h"
#include "impl/runtime/world.h"

namespace armci::twosided {

class ServerProcesses {
 public:
  ServerProcesses() = default;
  ServerProcesses(const ServerProcesses&) = delete;
  ServerProcesses& operator=(const ServerProcesses&) = delete;
  // Without stop() the servers notice the end of the process.
  ~ServerProcesses() { watch_.stop(); }

  // Collective. A failure is one of all processes, and no server is left.
  Status start(const runtime::World& world, const ServerParameters& parameters);
  // Collective, after every process has disconnected from the servers.
  void stop();

  const Comms& comms() const { return bootstrap_.comms; }

 private:
  Status spawn(const runtime::World& world);
  Status instruct(const runtime::World& world, ServerParameters parameters, int* pid);

  ServerBootstrap bootstrap_;
  int server_ = -1;  // of this node; set on the first process of the node
  bool serving_ = false;
  ProcessWatch watch_;
  std::atomic<const char*> step_{""};  // the step that start() waits in
};

}  // namespace armci::twosided
