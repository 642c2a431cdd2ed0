// Whether the MPI library of this job starts processes while the job runs.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

namespace armci::twosided::testing {

// Where a port cannot be opened, nothing can be started: MPICH over UCX before 4.3.
inline bool can_spawn() {
  char port[MPI_MAX_PORT_NAME];
  for (MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool opened = MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS;
  if (opened) MPI_Close_port(port);
  for (MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  return opened;
}

}  // namespace armci::twosided::testing
