// The collective operations of the message layer, among the processes of a communicator.
//
// On one node with a core for each process they are MPI's. Else a process that waits in one makes passes, yields and
// sleeps (mpi_wait.h), which MPI's blocking operations do not. MPI's non-blocking ones allow it, but a sum of 8 B by
// MPI_Iallreduce of Open MPI takes 1.5 times as long between two nodes. So short reductions and broadcasts go by
// messages here. Where MPI_Iallreduce is slow, a long reduction to all is preceded by a barrier of the caller's: its
// processes do not wait long in MPI then.
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

// The tag of the messages of these operations, for communicators over which the program sends with smaller tags.
Status collective_tag(MPI_Comm comm, int* tag);

// Between nodes. In ceil(log2(n)) rounds.
Status barrier_by_messages(node::WaitKind kind, int tag, MPI_Comm comm);

// Each replaces the `n` elements at `x`, as MPI_Allreduce and MPI_Reduce to rank 0 do. The operation is commutative;
// the result is the same on all processes to the last bit.
Status reduce_to_all(void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
// `contribution`: MPI_IN_PLACE on rank 0.
Status reduce_to_first(const void* contribution, void* x, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

Status broadcast(void* buf, int bytes, int root, MPI_Comm comm);

}  // namespace armci::runtime
