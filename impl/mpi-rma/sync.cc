#include "impl/mpi-rma/sync.h"

#include <cstring>

#include "impl/mpi-rma/sync_epochless.h"

namespace armci::rma {

using common::kSuccess;
using common::Status;

Pending::~Pending() {
  if (request_ == MPI_REQUEST_NULL) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

Status Pending::test(bool* done) {
  if (request_ != MPI_REQUEST_NULL) {
    int flag = 0;
    ARMCI_MPI(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE));
    *done = flag != 0;
    return kSuccess;
  }
  if (window_ != nullptr) {
    ARMCI_MPI(MPI_Win_flush_local(rank_, window_->handle()));
    window_ = nullptr;
  }
  *done = true;
  return kSuccess;
}

namespace {

// Open MPI 4 loses the completion of a request when another thread makes progress while it is being started.
bool requests_complete() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::strstr(version, "Open MPI v4.") == nullptr;
}

}  // namespace

std::unique_ptr<Sync> Sync::make(SyncKind, int requests, const Findings& findings) {
  const bool chosen = requests < 0 ? requests_complete() : requests != 0;
  const bool derived = !findings.has(Fault::kRputNoncontiguous) && !findings.has(Fault::kRgetNoncontiguous);
  return std::make_unique<Epochless>(Epochless::Requests{chosen, chosen && derived});
}

}  // namespace armci::rma
