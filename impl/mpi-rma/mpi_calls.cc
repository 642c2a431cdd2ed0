// The calls of MPI that wait, by MPI's profiling interface. While the program or this library is inside such a call,
// MPI serves the other processes there. The progress thread would only compete with it.
//
// Weak symbols: a program or a tool may define functions of these names, which costs time only. The progress thread
// also runs during calls that are not here, and during those of Fortran under Open MPI, whose binding bypasses the C
// names.

#include <mpi.h>

#include "impl/node/inside_mpi.h"

#define ARMCI_WAITS_INSIDE(name, parameters, arguments)                            \
  extern "C" [[gnu::visibility("default"), gnu::weak]] int MPI_##name parameters { \
    const armci::node::InsideMpi inside;                                           \
    return PMPI_##name arguments;                                                  \
  }

ARMCI_WAITS_INSIDE(Recv,
                   (void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status),
                   (buffer, count, type, source, tag, comm, status))
ARMCI_WAITS_INSIDE(Send, (const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm),
                   (buffer, count, type, target, tag, comm))
ARMCI_WAITS_INSIDE(Sendrecv,
                   (const void* out, int out_count, MPI_Datatype out_type, int target, int out_tag, void* in,
                    int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status),
                   (out, out_count, out_type, target, out_tag, in, in_count, in_type, source, in_tag, comm, status))
ARMCI_WAITS_INSIDE(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), (source, tag, comm, status))
ARMCI_WAITS_INSIDE(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
ARMCI_WAITS_INSIDE(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses))
ARMCI_WAITS_INSIDE(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status),
                   (count, requests, index, status))
ARMCI_WAITS_INSIDE(Waitsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]),
                   (count, requests, done, indices, statuses))
ARMCI_WAITS_INSIDE(Barrier, (MPI_Comm comm), (comm))
ARMCI_WAITS_INSIDE(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                   (buffer, count, type, root, comm))
ARMCI_WAITS_INSIDE(Reduce,
                   (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
                   (in, out, count, type, op, root, comm))
ARMCI_WAITS_INSIDE(Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                   (in, out, count, type, op, comm))
ARMCI_WAITS_INSIDE(Gather,
                   (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                    int root, MPI_Comm comm),
                   (in, in_count, in_type, out, out_count, out_type, root, comm))
ARMCI_WAITS_INSIDE(Allgather,
                   (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm),
                   (in, in_count, in_type, out, out_count, out_type, comm))
ARMCI_WAITS_INSIDE(Alltoall,
                   (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm),
                   (in, in_count, in_type, out, out_count, out_type, comm))
ARMCI_WAITS_INSIDE(Win_flush, (int rank, MPI_Win window), (rank, window))
ARMCI_WAITS_INSIDE(Win_flush_all, (MPI_Win window), (window))
ARMCI_WAITS_INSIDE(Win_flush_local, (int rank, MPI_Win window), (rank, window))
ARMCI_WAITS_INSIDE(Win_flush_local_all, (MPI_Win window), (window))
ARMCI_WAITS_INSIDE(Win_lock, (int type, int rank, int assert, MPI_Win window), (type, rank, assert, window))
ARMCI_WAITS_INSIDE(Win_unlock, (int rank, MPI_Win window), (rank, window))
ARMCI_WAITS_INSIDE(Win_unlock_all, (MPI_Win window), (window))
ARMCI_WAITS_INSIDE(Win_fence, (int assert, MPI_Win window), (assert, window))

// Open MPI's accumulates over UCX wait for a lock of the target and for its memory, some round trips.
ARMCI_WAITS_INSIDE(Accumulate,
                   (const void* from, int from_count, MPI_Datatype from_type, int target, MPI_Aint place, int count,
                    MPI_Datatype type, MPI_Op op, MPI_Win window),
                   (from, from_count, from_type, target, place, count, type, op, window))
ARMCI_WAITS_INSIDE(Get_accumulate,
                   (const void* from, int from_count, MPI_Datatype from_type, void* result, int result_count,
                    MPI_Datatype result_type, int target, MPI_Aint place, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Win window),
                   (from, from_count, from_type, result, result_count, result_type, target, place, count, type, op,
                    window))
ARMCI_WAITS_INSIDE(Raccumulate,
                   (const void* from, int from_count, MPI_Datatype from_type, int target, MPI_Aint place, int count,
                    MPI_Datatype type, MPI_Op op, MPI_Win window, MPI_Request* request),
                   (from, from_count, from_type, target, place, count, type, op, window, request))
ARMCI_WAITS_INSIDE(Fetch_and_op,
                   (const void* operand, void* result, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
                    MPI_Win window),
                   (operand, result, type, target, place, op, window))
ARMCI_WAITS_INSIDE(Compare_and_swap,
                   (const void* operand, const void* comparand, void* result, MPI_Datatype type, int target,
                    MPI_Aint place, MPI_Win window),
                   (operand, comparand, result, type, target, place, window))
