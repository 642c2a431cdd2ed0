// The waits of this thread for messages of MPI between nodes.
//
// MPI's blocking calls serve MPI only. A thread in one of these functions also serves the requests of other nodes that
// wait at the transport of this process, and sleeps once a wait takes long [PROG-5]:
//
//   wait:   test, pass of the transport, test, pass ... | sleep until a socket has data | test, pass ...
//
// In a job on one node no other node has requests, and MPI's blocking calls are faster. But with more processes than
// cores some MPI libraries keep their core while they wait.
//
// Thread safety: all of it by any thread.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "impl/base/status.h"
#include "impl/node/wait_report.h"

namespace armci::runtime {

// Whether a wait for a message should be one of these; the same on all processes.
bool waits_for_mpi();

// Returns when the request has completed. `kind`: for reports.
Status complete(node::WaitKind kind, MPI_Request* request);

// As MPI_Mprobe.
Status probe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);

// Sends `bytes` bytes to `to` and receives as many from `from`; MPI_PROC_NULL: neither. The buffers differ. When it
// fails, no later receive can get the message of this one.
Status exchange(node::WaitKind kind, const void* out, int to, void* in, int from, std::size_t bytes, int tag,
                MPI_Comm comm);

}  // namespace armci::runtime
