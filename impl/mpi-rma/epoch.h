// epoch_of(): operations of MPI in an epoch of their own.
//
//   |mutex |MPI_Win_lock  operations  MPI_Win_unlock| mutex|  progress
//
// MPI libraries that execute the lock's atomics at the target do so inside its calls of MPI. A process that opens
// epochs to itself one after the other makes hardly any call outside them. The others' attempts would then always find
// the lock taken (Open MPI 4.1, osc/ucx: for a minute and more). The transport therefore makes one such call after
// each.
#pragma once

#include <mpi.h>

#include <mutex>

#include "impl/base/status.h"
#include "impl/node/mpi_progress.h"

namespace armci::rma {

// `lock`: MPI_LOCK_EXCLUSIVE, or MPI_LOCK_SHARED where operations of others may run at the same time. `operations`
// returns MPI's error code; `what` names them. `own`: the rank is this process. `mutex` keeps the process from having
// two epochs of the window at once.
template <class Operations>
Status epoch_of(MPI_Win window, int lock, int rank, bool own, std::mutex& mutex, const char* what,
                Operations operations) {
  {
    std::lock_guard guard(mutex);
    ARMCI_MPI(MPI_Win_lock(lock, rank, 0, window));
    const int error = operations();
    const int unlocked = MPI_Win_unlock(rank, window);
    if (error != MPI_SUCCESS) return fail_mpi(error, what);
    if (unlocked != MPI_SUCCESS) return fail_mpi(unlocked, "MPI_Win_unlock");
  }
  // An error of MPI shows in the next operation.
  if (own && node::may_poll_mpi()) node::poll_mpi_progress();
  return kSuccess;
}

}  // namespace armci::rma
