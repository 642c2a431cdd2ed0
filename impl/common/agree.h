// One verdict of several processes.
#pragma once

#include <mpi.h>

#include "impl/common/status.h"

namespace armci::common {

// All processes of comm learn whether all were successful: returns `mine` where it failed, and a failure that names
// the first process that failed elsewhere. Collective.
Status agree(MPI_Comm comm, Status mine, const char* what);

}  // namespace armci::common
