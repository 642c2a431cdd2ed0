// Lets MPI progress from threads that wait inside this library [PROG-5].
//
// MPI moves a message only while the processes at both ends call MPI. A thread that waits for a store of another
// process calls nothing, so it polls MPI in between. MPI decides which threads may: at MPI_THREAD_FUNNELED and below
// the main thread; at MPI_THREAD_SERIALIZED any thread inside a call of ARMCI, since such a call counts as a call of
// MPI; at MPI_THREAD_MULTIPLE any.
//
// A transport may set a pass, which takes its own messages of MPI. Threads that wait make the pass after each poll.
//
// Thread safety: start_mpi_progress(), stop_mpi_progress() and set_mpi_pass() while no other thread is inside the
// library; the others by any thread.
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
// One call of MPI that lets it progress, and the transport's pass. Costs a microsecond or less where neither has
// anything to do.
void poll_mpi_progress();

// The pass waits for nothing. nullptr: there is none.
void set_mpi_pass(void (*pass)(void*), void* transport);
// For threads that poll MPI by calls of their own.
void make_mpi_pass();

}  // namespace armci::node
