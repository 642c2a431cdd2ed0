// The requests of this library to MPI when the program starts MPI (impl/api/entry_mpi.cc).
//
// Thread safety: any thread; takes effect on an MPI_Init that comes later.
#pragma once

namespace armci::runtime {

// Sets MPI's variables in the environment, and returns the thread level to request for a program that requests
// `required`: MPI_THREAD_MULTIPLE, or after keep_thread_level() the program's.
int prepare_mpi(int required);

// For a job in which no thread of this library calls MPI concurrently.
void keep_thread_level();

}  // namespace armci::runtime
