// agree(): one result of several processes.
#pragma once

#include <mpi.h>

#include <span>

#include "impl/base/status.h"

namespace armci::node {

// All processes of comm learn whether all were successful: a process that failed gets `mine`; the others get a failure
// that names the first process that failed and has its code. `clause`: the violated clause, or nullptr. Collective.
Status agree(MPI_Comm comm, Status mine, const char* what, const char* clause = nullptr);

// The value that an environment variable has on this process.
struct SharedSetting {
  const char* name;
  long value;
};

// Fails on all processes of comm if a setting differs between them; the error names the first such setting [ERR-1].
// Collective; the same settings in the same order everywhere.
Status same_on_all(MPI_Comm comm, std::span<const SharedSetting> settings);

}  // namespace armci::node
