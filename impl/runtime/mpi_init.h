// What this library asks of MPI when the program starts it (mpi_init.cc).
//
// Thread safety: any thread; takes effect on an MPI_Init that comes later.
#pragma once

namespace armci::runtime {

// MPI_Init and MPI_Init_thread give the thread level that the program asks for, and no more: nothing of this library
// calls MPI beside the program. Without it they ask for MPI_THREAD_MULTIPLE.
void keep_thread_level();

}  // namespace armci::runtime
