// Allgather of strings of any length.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::ucx {

// (*all)[r]: the string of the process with rank r of comm. Collective.
Status allgather_strings(MPI_Comm comm, const std::string& mine, std::vector<std::string>* all);

}  // namespace armci::ucx
