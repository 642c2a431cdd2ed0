// One verdict of several processes.
#pragma once

#include <mpi.h>

#include "impl/common/status.h"

namespace armci::common {

// All processes of comm learn whether all were successful: returns `mine` where it failed, and elsewhere a failure with
// the code of the first process that failed, which it names. `clause`: which is not kept then, or nullptr. Collective.
Status agree(MPI_Comm comm, Status mine, const char* what, const char* clause = nullptr);

}  // namespace armci::common
