// Preflight: what the MPI library below gets wrong, found out before the first window of the program is made.
//
//   preflight(comm, mode)
//     kOff:    versions only (library.h): every fault that the version of the MPI library is known for, no probe
//     kCached: the findings of an earlier run on the same MPI library, transport and reach, else as kForce
//     kForce:  versions, then the probes; the findings are kept for later runs
//
//   all processes                        process 0
//                                        key of this run -> reads the cache
//            <--------- broadcast: hit, findings ---------
//   miss: the probes, each with one neighbour on the node and one on another node
//            ---------- OR of all findings -------------->  writes the cache
//
// The probes move a few MiB through windows of their own on a communicator of their own; they compare data and do not
// trust return codes. One that could abort or hang the process is not run (Evidence::kVersion).
//
// Thread safety: works at every MPI thread level; no other thread may be in preflight() on `comm`.
#pragma once

#include <mpi.h>

#include "impl/mpi-rma/preflight/faults.h"

namespace armci::rma {

// The values of ARMCI_PREFLIGHT: 0, 1 and force.
enum class PreflightMode { kOff, kCached, kForce };

// "0", "1" or "force" (also no/off/yes/on, as other settings); false: anything else.
bool parse_preflight_mode(const char* text, PreflightMode* mode);

// Collective over `comm`, which is only duplicated; nothing of it remains. All processes return the same. Well under a
// second when it probes. There are no errors: what cannot be done is a finding, a cache that cannot be used is ignored.
// All processes give the same mode.
Findings preflight(MPI_Comm comm, PreflightMode mode);

// One line for each finding on stderr, for ARMCI_VERBOSE=1; the caller chooses the process that prints.
void print_findings(const Findings& findings);

}  // namespace armci::rma
