#include "impl/mpi-twosided/server_bootstrap.h"

#include <cstdio>

#include "impl/node/agree.h"

namespace armci::twosided {

namespace {

constexpr int kBootstrapTag = 7;

Status return_errors(MPI_Comm comm) {
  ARMCI_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return kSuccess;
}

}  // namespace

Status ServerBootstrap::connect(MPI_Comm own, bool is_server) {
  const int high = is_server ? 1 : 0;
  if (spawned != MPI_COMM_NULL) {
    ARMCI_RETURN_IF_ERROR(return_errors(spawned));
    ARMCI_MPI(MPI_Intercomm_merge(spawned, high, &bridge));
    ARMCI_RETURN_IF_ERROR(return_errors(bridge));
  }
  // In the bridge process 0 comes first, and then the first server.
  ARMCI_MPI(MPI_Intercomm_create(own, 0, bridge, is_server ? 0 : 1, kBootstrapTag, &sides));
  ARMCI_RETURN_IF_ERROR(return_errors(sides));
  ARMCI_MPI(MPI_Intercomm_merge(sides, high, &all));
  ARMCI_RETURN_IF_ERROR(return_errors(all));
  return comms.duplicate(all);
}

void ServerBootstrap::disconnect() {
  comms.free();
  if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
  if (sides != MPI_COMM_NULL) MPI_Comm_disconnect(&sides);
  if (bridge != MPI_COMM_NULL) MPI_Comm_free(&bridge);
  if (spawned != MPI_COMM_NULL) MPI_Comm_disconnect(&spawned);
}

Status agree_on_start(const ServerBootstrap& bootstrap, int processes, Status mine) {
  char what[96];
  std::snprintf(what, sizeof what, "starting the server processes, which are numbered from %d on,", processes);
  return node::agree(bootstrap.all, mine, what);
}

}  // namespace armci::twosided
