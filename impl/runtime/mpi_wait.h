// How a thread waits for messages of MPI without blocking inside MPI [PROG-5].
//
// MPI's blocking calls serve MPI only. A thread in one of these functions also makes passes of the transport, which
// serve the requests of other nodes, and sleeps once a wait takes long:
//
//   wait:   test, pass, test, pass ... | sleep until a socket has data | test, pass ...
//
// On one node with a core for each process MPI's blocking calls are faster. With more processes than cores some MPI
// libraries keep their core while they wait; these functions yield.
//
// Thread safety: as MPI's level of threads allows.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "impl/base/status.h"
#include "impl/node/wait_report.h"

namespace armci::runtime {

// Whether the calls of the message layer wait here, and not inside MPI; the same on all processes.
bool library_waits();

// Returns when the request has completed. `kind`: for reports.
Status complete(node::WaitKind kind, MPI_Request* request);

// As MPI_Mprobe.
Status probe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);

// As MPI_Send, MPI_Recv and MPI_Sendrecv of bytes. After a failure no message can arrive at `in`.
Status send(node::WaitKind kind, const void* out, std::size_t bytes, int to, int tag, MPI_Comm comm);
Status receive(node::WaitKind kind, void* in, std::size_t bytes, int from, int tag, MPI_Comm comm);
Status exchange(node::WaitKind kind, const void* out, int to, void* in, int from, std::size_t bytes, int tag,
                MPI_Comm comm);

}  // namespace armci::runtime
