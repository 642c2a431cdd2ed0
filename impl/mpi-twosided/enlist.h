// How processes and server processes come together and part.
//
//   processes                                        server processes, one for each node
//   process 0: MPI_Comm_spawn_multiple ------------> the program once more; before its main(): server_main.cc
//   a communicator of all: the processes by          the same
//     absolute id, then the servers by node
//   terms, and the node of every process ----------> whom it serves
//   first of a node: where its memory is ----------> maps it, posts its buffers
//                    <-------------------- its pid
//   verdict of all                                   the same
//   ...                                              serves
//   first of a node: dismissal --------------------> frees its buffers
//   the communicators go; MPI_Comm_disconnect        the same; MPI_Finalize, _exit
//
// Only process 0 spawns, on behalf of all: a spawn that MPI refuses is then a failure of one process, of which it tells
// the others. In a collective spawn they would wait for it for good (Open MPI 4.1).
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

// The same for all servers. Travels as bytes.
struct Terms {
  Room room;
  int cluster = 1;
  int wait_us = 0;
  int spin_iterations = 0;
  int processes = 0;
  cpu_set_t cpus;
};

// Messages in the communicator of all, between a server and the first process of its node.
inline constexpr int kMemoryTag = 1;
inline constexpr int kPidTag = 2;
inline constexpr int kDismissalTag = 3;

// The communicators that one process has of the others.
struct Circle {
  MPI_Comm spawned = MPI_COMM_NULL;  // process 0 and the servers: what MPI_Comm_spawn_multiple made
  MPI_Comm bridge = MPI_COMM_NULL;   // the same ones, as one group
  MPI_Comm sides = MPI_COMM_NULL;    // the processes on one side, the servers on the other
  MPI_Comm all = MPI_COMM_NULL;      // the processes by absolute id, then the servers by node
  Comms comms;                       // of all

  // Collective over all of them. `own`: those of this side; `spawned` is set where it exists.
  Status join(MPI_Comm own, bool is_server);
  // Collective over all of them; also after a join that failed.
  void leave();
};

// Collective over circle.all: whether all could start, processes and servers.
Status agree_on_start(const Circle& circle, int processes, Status mine);

}  // namespace armci::twosided
