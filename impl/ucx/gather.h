// What every process has to say, of any length.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::ucx {

// (*all)[r]: what the process with rank r of comm said. Collective.
Status gather_strings(MPI_Comm comm, const std::string& mine, std::vector<std::string>* all);

}  // namespace armci::ucx
