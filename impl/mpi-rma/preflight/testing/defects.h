// An MPI library with one fault more: the calls that the probes make, each of which can be told to go wrong.
//
// Linked in front of the MPI library, by its profiling interface. Thread safety: none.
#pragma once

#include <span>

#include "impl/mpi-rma/preflight/faults.h"

namespace armci::rma::testing {

enum class Defect {
  kNone,
  kGetNoncontiguous,         // MPI_Get with a noncontiguous type moves nothing
  kPutNoncontiguous,         // the same of MPI_Put
  kAccumulateNoncontiguous,  // and of MPI_Accumulate
  kRgetNoncontiguous,        // MPI_Rget with a noncontiguous type is complete before the data is here
  kFetchAndOp4,              // MPI_Fetch_and_op of four bytes says 1 too much
  kCompareAndSwap,           // MPI_Compare_and_swap does not swap
  kReplaceLate,              // MPI_Accumulate(MPI_REPLACE) of one element takes effect with the next flush
  kAttach,                   // MPI_Win_attach fails
  kAllocate,                 // MPI_Win_allocate gives a wrong base
};

struct DefectRow {
  Defect defect;
  const char* name;
  Fault expected;
};
std::span<const DefectRow> defect_table();

// From now on, in this process only.
void set_defect(Defect defect);

}  // namespace armci::rma::testing
