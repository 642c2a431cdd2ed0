// The choices that MPI reads at its start, for ports with a thread that calls MPI: the thread level; the component of
// Open MPI 4 for windows; the locks and the segment sizes of UCX.
#include "impl/runtime/mpi_start.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "impl/runtime/mpi_library.h"

namespace {

constinit std::atomic<int> least_level{MPI_THREAD_MULTIPLE};

// Whether a list of UCX's transports, of those wanted or (^) of those not wanted, leaves one that is known by any of
// these names. UCX warns of settings of transports that it may not take.
bool leaves(const char* list, std::initializer_list<const char*> names) {
  if (list == nullptr) return true;
  const auto named = [list](const char* name) { return std::strstr(list, name) != nullptr; };
  return std::any_of(names.begin(), names.end(), named) != (list[0] == '^');
}

// Segments carry 20 bytes of headers. No element is stored in two parts if the rest is a multiple of 16. In shared
// memory the rest also has to be short enough for the C library to copy it by vectors (fault put-torn) [D57].
void preset_segments() {
  const char* const transports = std::getenv("UCX_TLS");
  if (leaves(transports, {"tcp", "all"})) setenv("UCX_TCP_TX_SEG_SIZE", "8196", 0);
  if (leaves(transports, {"posix", "shm", "sm", "all"})) setenv("UCX_POSIX_SEG_SIZE", "2084", 0);
  if (leaves(transports, {"sysv", "shm", "sm", "all"})) setenv("UCX_SYSV_SEG_SIZE", "2084", 0);
}

// Variables that the user has set keep their values. osc/rdma crashes in compare-and-swap between the processes of a
// node; without it Open MPI chooses osc/ucx. Locks of UCX spin by default, for a time slice where threads outnumber
// cores [D55].
void preset_environment() {
  if (std::strstr(armci::runtime::mpi_library_version(), "Open MPI v4.") != nullptr) setenv("OMPI_MCA_osc", "^rdma", 0);
  setenv("UCX_USE_MT_MUTEX", "y", 0);
  preset_segments();
}

}  // namespace

namespace armci::runtime {

void keep_thread_level() { least_level.store(MPI_THREAD_SINGLE); }

int prepare_mpi(int required) {
  preset_environment();
  return std::max(required, least_level.load());
}

}  // namespace armci::runtime
