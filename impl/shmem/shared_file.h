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

// The process's pid namespace, 0 when it cannot be told.
std::uint64_t pid_namespace();

}  // namespace armci::node
