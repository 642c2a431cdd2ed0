// Init and finalize of the library: nested inits, the owner of MPI, and the settings, statistics and watchdog around
// the runtime.
//
// Compiled once per implementation, like the entry points.
//
// Thread safety: init and finalize by one thread at a time.
#pragma once

#include <mpi.h>

#include <climits>

#include "impl/base/status.h"

namespace armci::runtime {

// Collective over `parent` (MPI_COMM_NULL: MPI_COMM_WORLD). `required`: least MPI thread level, or kAnyThreadLevel.
inline constexpr int kAnyThreadLevel = INT_MIN;
Status library_init(int* argc, char*** argv, int required, MPI_Comm parent);
Status library_finalise();
// Ends the library, if it is initialized, with a warning [INIT-5]. MPI_Finalize of the program calls it first.
void end_with_mpi();
bool library_initialised();
// Whether this process is a child of fork, whose parent had initialized the library [INIT-9].
bool library_left_by_fork();
int library_thread_level();

// Invalidates the handles of mutex sets that the program still has.
void forget_mutex_sets();

}  // namespace armci::runtime
