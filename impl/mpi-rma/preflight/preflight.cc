#include "impl/mpi-rma/preflight/preflight.h"

#include <strings.h>

#include <cstdio>

#include "impl/mpi-rma/preflight/library.h"
#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

std::uint64_t joined(std::uint64_t bits, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UINT64_T, MPI_BOR, comm);
  return bits;
}

Findings probe_all(const Neighbourhood& around, Findings found) {
  probe_windows(around, &found);
  probe_atomics(around, &found);
  probe_order(around, &found);
  probe_datatypes(around, &found);
  return Findings(joined(found.bits(), around.comm()), Findings::Origin::kProbes);
}

}  // namespace

bool parse_preflight_mode(const char* text, PreflightMode* mode) {
  for (const char* no : {"0", "no", "off", "false", "n"}) {
    if (strcasecmp(text, no) == 0) return *mode = PreflightMode::kOff, true;
  }
  for (const char* yes : {"1", "yes", "on", "true", "y"}) {
    if (strcasecmp(text, yes) == 0) return *mode = PreflightMode::kCached, true;
  }
  if (strcasecmp(text, "force") == 0) return *mode = PreflightMode::kForce, true;
  return false;
}

Findings preflight(MPI_Comm comm, PreflightMode mode) {
  const Neighbourhood around(comm);
  const Findings known(joined(faults_by_version(around.nodes()).bits(), around.comm()));
  if (mode == PreflightMode::kOff) return known;
  return probe_all(around, known);
}

void print_findings(const Findings& findings) {
  for (const FaultRow& row : fault_table()) {
    if (!findings.has(row.fault)) continue;
    std::printf("  %s: %s Instead: %s\n", row.id, row.description, row.safe_method);
  }
}

}  // namespace armci::rma
