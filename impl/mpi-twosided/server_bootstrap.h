// Server bootstrap: the processes of a job start server processes, connect to them, and disconnect.
//
//   processes                                        server processes, one for each node
//   process 0: MPI_Comm_spawn_multiple ------------> the program once more; before its main(): server_main.cc
//   a communicator of all: the processes by          the same
//     absolute id, then the servers by node
//   parameters, and the node of every process -----> the processes of its node
//   first of a node: address of its memory --------> maps it, posts its buffers
//                    <-------------------- its pid
//   agreement of all                                 the same
//   ...                                              serves
//   first of a node: stop request -----------------> frees its buffers
//   the communicators are freed; MPI_Comm_disconnect the same; MPI_Finalize, _exit
//
// Process 0 alone spawns, on behalf of all. If MPI refuses the spawn, process 0 fails and reports the failure to the
// others. In a collective spawn the others would hang (Open MPI 4.1).
//
// Thread safety: none.
#pragma once

#include <mpi.h>
#include <sched.h>

#include "impl/base/status.h"
#include "impl/mpi-twosided/message_pool.h"

namespace armci::twosided {

// The only argument of a program that is started as a server.
inline constexpr char kServerMarker[] = "armci-server-of-a-node";

// The same for all servers. Sent as bytes.
struct ServerParameters {
  ReceiveBuffers receive_buffers;
  int cluster = 1;
  int wait_us = 0;
  int spin_iterations = 0;
  int processes = 0;
  cpu_set_t cpus;
};

// Messages in the communicator of all, between a server and the first process of its node.
inline constexpr int kMemoryTag = 1;
inline constexpr int kPidTag = 2;
inline constexpr int kStopTag = 3;

// The communicators of one process.
struct ServerBootstrap {
  MPI_Comm spawned = MPI_COMM_NULL;  // process 0 and the servers; of MPI_Comm_spawn_multiple
  MPI_Comm bridge = MPI_COMM_NULL;   // the same processes, as one group
  MPI_Comm sides = MPI_COMM_NULL;    // the processes on one side, the servers on the other
  MPI_Comm all = MPI_COMM_NULL;      // the processes by absolute id, then the servers by node
  Comms comms;                       // of all

  // Collective over all processes and servers. `own`: the processes of this side; `spawned` is set where it exists.
  Status connect(MPI_Comm own, bool is_server);
  // Collective over all processes and servers; also after a connect() that failed.
  void disconnect();
};

// Collective over bootstrap.all: succeeds if all processes and servers could start.
Status agree_on_start(const ServerBootstrap& bootstrap, int processes, Status mine);

}  // namespace armci::twosided
