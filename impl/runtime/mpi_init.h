// The requests of this library to MPI when the program starts MPI (mpi_init.cc).
//
// Thread safety: any thread; takes effect on an MPI_Init that comes later.
#pragma once

namespace armci::runtime {

// MPI_Init and MPI_Init_thread then request only the thread level of the program: no thread of this library calls MPI
// concurrently. Without this call they request MPI_THREAD_MULTIPLE.
void keep_thread_level();

}  // namespace armci::runtime
