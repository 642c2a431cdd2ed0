// Opening one file that several processes of a machine share, without a name that could stay behind.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "impl/common/status.h"

namespace armci::node {

// Collective over machine_comm. Rank 0 creates an empty file of `bytes` (sparse) in `directory`; all get a descriptor
// of it. First choice: an unnamed file (O_TMPFILE) that the others open through /proc/PID/fd. Where that fails (other
// pid namespaces, a file system without unnamed files): a named file, unlinked as soon as all have opened it.
common::Status open_shared_file(MPI_Comm machine_comm, const std::string& directory, std::uint64_t bytes,
                                int* descriptor);

// All processes of comm learn whether all were successful: returns `mine` where it failed, and a failure that names
// the first process that failed elsewhere. Collective.
common::Status agree(MPI_Comm comm, common::Status mine, const char* what);

// The process's pid namespace, 0 when it cannot be told.
std::uint64_t pid_namespace();

}  // namespace armci::node
