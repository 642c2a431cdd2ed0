// Lets MPI progress from threads that wait inside this library [PROG-5].
//
// MPI moves a message only while the processes at both ends call MPI. A thread that waits for a store of another
// process calls nothing, so it polls MPI in between. MPI decides which threads may: at MPI_THREAD_FUNNELED and below
// the main thread; at MPI_THREAD_SERIALIZED any thread inside a call of ARMCI, since such a call counts as a call of
// MPI; at MPI_THREAD_MULTIPLE any.
//
// Thread safety: start_mpi_progress() and stop_mpi_progress() while no other thread is inside the library; the others
// by any thread.
#pragma once

#include <mpi.h>

namespace armci::node {

// Both collective over `world`, and the first creates a communicator. poll_mpi_progress() probes that communicator for
// messages, which no process sends. The communicator has all processes, since MPICH polls no network for a communicator
// of one. Returns MPI's error code.
int start_mpi_progress(MPI_Comm world);
void stop_mpi_progress();

// Whether poll_mpi_progress() may be called by this thread.
bool may_poll_mpi();
// One call of MPI that lets it progress. Costs a microsecond or less where MPI has nothing to do.
void poll_mpi_progress();

}  // namespace armci::node
