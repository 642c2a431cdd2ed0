// The collective operations of the message layer, among the processes of a communicator that the program does not know.
//
// On one node with a core for each process they are MPI's. Else short reductions and broadcasts go by messages, in
// which a process makes passes, yields and sleeps while it waits (mpi_wait.h). Long ones are MPI's non-blocking
// operations. But MPI_Iallreduce of Open MPI is slow: 1.5 times as long for a sum of 8 B between two nodes. There a
// long reduction to all is MPI_Allreduce, and the caller has a barrier before, so that no process waits long in MPI.
//
// Thread safety: one call at a time over the same communicator, as for MPI's operations.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "impl/base/status.h"
#include "impl/node/wait_report.h"

namespace armci::runtime {

// Reductions and broadcasts of at most this length go by messages.
inline constexpr std::size_t kByMessagesBytes = 4096;

// Whether a reduction to all of so many bytes has a barrier before.
bool needs_barrier(std::size_t bytes);

// Returns when all processes of `comm` have called it, after ceil(log2(n)) rounds. `kind`: for reports.
Status barrier_by_messages(node::WaitKind kind, MPI_Comm comm);

// x[0..n-1] of all processes becomes the result, on each process with the same bits. `op` must be commutative.
Status reduce_to_all(void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
// The same on rank 0 only, whose `contribution` is MPI_IN_PLACE. Elsewhere `x` is null.
Status reduce_to_first(const void* contribution, void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

Status broadcast(void* buf, int bytes, int root, MPI_Comm comm);

// `all` has `bytes` bytes of each process, in the order of ranks; before the call the process's own.
Status all_gather(void* all, int bytes, MPI_Comm comm);

}  // namespace armci::runtime
