// The MPI library that a process runs with, which need not be the one that this library was compiled for, and measured
// facts of the latter.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "impl/base/status.h"

namespace armci::runtime {

// Messages of this length move long data fastest. Shorter ones cost more for each byte, and longer ones are not eager.
// Measured above TCP; with MPICH two messages of 32 KiB take twice as long as four of 16 KiB.
#ifdef OPEN_MPI
inline constexpr std::size_t kStreamedMessageBytes = 32768;
#else
inline constexpr std::size_t kStreamedMessageBytes = 16384;
#endif

// Whether MPI_Iallreduce is as fast as MPI_Allreduce. Of 1 MiB between two nodes it takes 1.6 times as long with Open
// MPI.
#ifdef OPEN_MPI
inline constexpr bool kIallreduceIsFast = false;
#else
inline constexpr bool kIallreduceIsFast = true;
#endif

// The version text of the MPI library, "Open MPI v4.1.4, ..."; may be called before MPI starts. Static memory; by one
// thread at a time.
const char* mpi_library_version();

// kLayerBelow where handles of one MPI library would be given to another one. Then the program was compiled with the
// one and this library with the other. Reads only the version of MPI.
Status require_mpi_of_build();

}  // namespace armci::runtime
