// One verdict of several processes.
#pragma once

#include <mpi.h>

#include <span>

#include "impl/base/status.h"

namespace armci::node {

// All processes of comm learn whether all were successful: returns `mine` where it failed, and elsewhere a failure with
// the code of the first process that failed, which it names. `clause`: which is not kept then, or nullptr. Collective.
Status agree(MPI_Comm comm, Status mine, const char* what, const char* clause = nullptr);

// The value that an environment variable has on this process.
struct SharedSetting {
  const char* name;
  long value;
};

// An error that names the first one that is not the same on all processes of comm, on all of them alike [ERR-1].
// Collective; the same settings in the same order everywhere.
Status same_on_all(MPI_Comm comm, std::span<const SharedSetting> settings);

}  // namespace armci::node
