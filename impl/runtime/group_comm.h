// The communicator of a group, created by its members alone: no member waits for a process outside the group [GROUP-1].
//
// Two ways, chosen by ARMCI_GROUP_RECURSIVE. At once is MPI_Comm_create_group. Recursively: an intercommunicator joins
// pairs of neighbouring subgroups, which are then merged, in ceil(log2(n)) rounds. The method is that of Dinan et al.,
// "Noncollective communicator creation in MPI", EuroMPI 2011. It is for MPI libraries whose MPI_Comm_create_group is
// missing or wrong:
//
//   positions    0   1   2   3   4
//   round 1      0---1   2---3   4
//   round 2      0-------2       4      leaders of subgroups, which agree over `parent`
//   round 3      0---------------4
#pragma once

#include <mpi.h>

#include "impl/base/status.h"

namespace armci::runtime {

// Collective over the listed ranks of `parent`, each once, of which the caller must be one. Blocks. The new ranks are
// in the order of the list. Thread safety: one call at a time among the same processes.
Status make_comm(MPI_Comm parent, const int* ranks, int count, MPI_Comm* out);

// The largest tag of a message over `comm`. The leaders' messages have it: none of the program's over `parent` do.
Status largest_tag(MPI_Comm comm, int* tag);

}  // namespace armci::runtime
