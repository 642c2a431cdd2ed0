#include "impl/mpi-rma/preflight/preflight.h"

#include <strings.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "impl/mpi-rma/preflight/cache.h"
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
  probe_speed(around, &found);
  return Findings(joined(found.bits(), around.comm()), Findings::Origin::kProbes);
}

// All facts that the findings depend on. A process without a partner has seen less than one that has, and so on.
// `known` has the faults by version. Stored findings contain them, so other rules make another key.
std::string cache_key(const Neighbourhood& around, const Findings& known) {
  std::string ids;
  for (const FaultRow& row : fault_table()) ids += std::string(row.id) + " ";
  const char* const reach = around.nodes() > 1 ? "nodes" : around.size() > 1 ? "one node" : "itself";
  return library_description() + "reach: " + reach + "\ntable: " + std::to_string(kFaultCount) + " " +
         std::to_string(fingerprint(ids)) + "\nby version: " + std::to_string(known.bits()) + "\n";
}

// The findings that process 0 reads from the cache, on all processes.
std::optional<Findings> cached(const Neighbourhood& around, const FindingsCache& cache) {
  std::array<std::uint64_t, 2> message = {0, 0};
  if (around.rank() == 0) {
    if (const std::optional<std::uint64_t> bits = cache.read()) message = {1, *bits};
  }
  MPI_Bcast(message.data(), 2, MPI_UINT64_T, 0, around.comm());
  if (message[0] == 0) return std::nullopt;
  return Findings(message[1], Findings::Origin::kCache);
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
  const FindingsCache cache(cache_key(around, known));
  if (mode == PreflightMode::kCached) {
    if (const std::optional<Findings> earlier = cached(around, cache)) return *earlier;
  }
  const Findings found = probe_all(around, known);
  if (around.rank() == 0) cache.write(found.bits());
  return found;
}

void print_findings(const Findings& findings) {
  for (const FaultRow& row : fault_table()) {
    if (!findings.has(row.fault)) continue;
    std::fprintf(stderr, "armci: finding %s: %s Instead: %s\n", row.id, row.description, row.safe_method);
  }
}

}  // namespace armci::rma
