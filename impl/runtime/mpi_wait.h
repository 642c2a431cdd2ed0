// How a thread waits for messages of MPI: inside MPI, or here, where library_waits() [PROG-5].
//
// MPI's blocking calls serve MPI only. A thread that waits here also makes passes of the transport, which serve the
// requests of other nodes, and sleeps once a wait takes long:
//
//   wait:   test, pass, test, pass ... | sleep until a socket has data | test, pass ...
//
// On one node with a core for each process MPI's blocking calls are faster. With more processes than cores some MPI
// libraries keep their core while they wait; a thread that waits here yields.
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

// As MPI_Send, MPI_Mprobe and MPI_Mrecv of bytes, for messages of the program.
Status send_message(const void* out, int bytes, int to, int tag, MPI_Comm comm);
Status probe_message(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
Status receive_message(void* in, int bytes, MPI_Message* message);

// The rest waits here in any case. `kind`: for reports.

// Returns when the request has completed.
Status complete(node::WaitKind kind, MPI_Request* request);

// As MPI_Send, MPI_Recv and MPI_Sendrecv of bytes. After a failure of exchange() no message can arrive at `in`.
Status send(node::WaitKind kind, const void* out, std::size_t bytes, int to, int tag, MPI_Comm comm);
Status receive(node::WaitKind kind, void* in, std::size_t bytes, int from, int tag, MPI_Comm comm);
Status exchange(node::WaitKind kind, const void* out, int to, void* in, int from, std::size_t bytes, int tag,
                MPI_Comm comm);

}  // namespace armci::runtime
