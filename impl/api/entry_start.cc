// Entry points: start and end.
#include "armci.h"
#include "impl/api/entry.h"
#include "impl/api/library.h"
#include "impl/api/state_report.h"
#include "impl/base/backtrace.h"

namespace armci::runtime::api {
namespace {

Status ARMCI_Init() { return library_init(nullptr, nullptr, kAnyThreadLevel, MPI_COMM_NULL); }
Status ARMCI_Init_args(int* argc, char*** argv) { return library_init(argc, argv, kAnyThreadLevel, MPI_COMM_NULL); }
Status ARMCI_Init_thread(int required) { return library_init(nullptr, nullptr, required, MPI_COMM_NULL); }

Status check_mpi() {
  int running = 0;
  MPI_Initialized(&running);
  if (running == 0)
    return fail(Code::kState, "INIT-8", "argument comm: MPI has not been initialized; call MPI_Init first");
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0)
    return fail(Code::kState, "INIT-8",
                "argument comm: MPI has been finalized; initialize the library before MPI_Finalize");
  return kSuccess;
}
Status check_comm(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL)
    return fail(Code::kNull, "INIT-8", "argument comm is MPI_COMM_NULL; pass a communicator that has this process");
  ARMCI_RETURN_IF_ERROR(check_mpi());
  int between_groups = 0;
  MPI_Comm_test_inter(comm, &between_groups);
  if (between_groups != 0) {
    return fail(Code::kUnsupported, "INIT-8", "argument comm is an intercommunicator; merge it by MPI_Intercomm_merge");
  }
  return kSuccess;
}
Status ARMCI_Init_thread_comm(int required, MPI_Comm comm) {
  ARMCI_RETURN_IF_ERROR(check_comm(comm));
  return library_init(nullptr, nullptr, required, comm);
}
Status ARMCI_Init_mpi_comm(MPI_Comm comm) { return api::ARMCI_Init_thread_comm(kAnyThreadLevel, comm); }
Status ARMCIX_Init_comm_f(int required, MPI_Fint comm) {
  ARMCI_RETURN_IF_ERROR(check_mpi());
  return api::ARMCI_Init_thread_comm(required, MPI_Comm_f2c(comm));
}

int ARMCI_Initialized() { return library_initialised() ? 1 : 0; }
Status ARMCI_Finalize() { return library_finalise(); }

// Nothing of this library outlives its processes (node memory has no name), so there is nothing to remove here; the
// process only stops being watched.
void ARMCI_Cleanup() {
  if (library_left_by_fork()) return;
  stop_watchdog();
  stop_signal_reports();
}

void ARMCI_Error(const char* msg, int code) {
  print_fatal(msg != nullptr ? msg : "(no message)", code);
  die(code);
}

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_START(ARMCI_DEFINE_ENTRY)
