// The preflight in a real job: all processes agree, the cache is used and not believed blindly, and probes can fail.
//
//   preflight_test [single]     at that thread level instead of MPI_THREAD_MULTIPLE
//
// Prints what it finds here; status 1 when a check fails. With two processes each defect (defects.h) is tried, on
// process 0 alone.
#include "impl/mpi-rma/preflight/preflight.h"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "impl/mpi-rma/preflight/testing/defects.h"
#include "impl/testing/job.h"

namespace {

namespace fs = std::filesystem;
using armci::rma::Findings;
using armci::rma::PreflightMode;
using namespace armci::runtime::testing;
using namespace armci::rma::testing;
using Origin = armci::rma::Findings::Origin;

Findings run(PreflightMode mode) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const Findings found = armci::rma::preflight(MPI_COMM_WORLD, mode);
  const double seconds = MPI_Wtime() - start;
  unsigned long long least = found.bits();
  unsigned long long most = found.bits();
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_BAND, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_BOR, MPI_COMM_WORLD);
  check(least == most, "all processes return the same findings");
  constexpr const char* kOrigins[] = {"by version", "by earlier probes (cached)", "by probes"};
  if (rank == 0) std::printf("%s: %.3f s\n", kOrigins[static_cast<int>(found.origin())], seconds);
  return found;
}

void spoil_files(const fs::path& folder) {
  if (rank != 0) return;
  for (const auto& file : fs::directory_iterator(folder)) std::ofstream(file.path()) << "findings: nothing\n";
}

void check_cache(const fs::path& home) {
  const Findings first = run(PreflightMode::kCached);
  check(first.origin() == Origin::kProbes, "without a cache it probes");
  if (rank == 0) armci::rma::print_findings(first);
  const Findings second = run(PreflightMode::kCached);
  check(second.origin() == Origin::kCache && second.bits() == first.bits(), "the second time it takes the cache");
  setenv("UCX_MADE_UP_SETTING", "1", 1);
  check(run(PreflightMode::kCached).origin() == Origin::kProbes, "another setting of the transport is another cache");
  unsetenv("UCX_MADE_UP_SETTING");
  spoil_files(home / "armci");
  check(run(PreflightMode::kCached).origin() == Origin::kProbes, "a spoilt cache is not believed");
  check(run(PreflightMode::kForce).origin() == Origin::kProbes, "force probes");
  check(run(PreflightMode::kCached).origin() == Origin::kCache, "and leaves a new cache");
  const Findings off = run(PreflightMode::kOff);
  check(off.origin() == Origin::kVersions && (off.bits() & ~first.bits()) == 0, "off asks the versions only");
}

void check_defects() {
  const Findings clean = run(PreflightMode::kForce);
  for (const auto& row : defect_table()) {
    // A fault that the library has without the defect proves nothing.
    if (clean.has(row.expected)) continue;
    if (rank == 0) set_defect(row.defect);
    const Findings found = run(PreflightMode::kForce);
    set_defect(Defect::kNone);
    check(found.has(row.expected), row.name);
    for (const auto& fault : armci::rma::fault_table()) {
      if (fault.evidence == armci::rma::Evidence::kTiming) continue;
      check(found.has(fault.fault) || !clean.has(fault.fault), "a defect hides no fault");
    }
  }
  const Findings after = run(PreflightMode::kForce);
  for (const auto& fault : armci::rma::fault_table()) {
    if (fault.evidence == armci::rma::Evidence::kTiming) continue;
    check(after.has(fault.fault) == clean.has(fault.fault), "afterwards all is as before");
  }
}

void check_modes() {
  PreflightMode mode = PreflightMode::kOff;
  check(armci::rma::parse_preflight_mode("1", &mode) && mode == PreflightMode::kCached, "mode 1");
  check(armci::rma::parse_preflight_mode("Force", &mode) && mode == PreflightMode::kForce, "mode force");
  check(armci::rma::parse_preflight_mode("no", &mode) && mode == PreflightMode::kOff, "mode no");
  check(!armci::rma::parse_preflight_mode("2", &mode) && !armci::rma::parse_preflight_mode("", &mode), "other modes");
}

}  // namespace

int main(int argc, char** argv) {
  const bool single = argc > 1 && std::strcmp(argv[1], "single") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  read_rank();
  // Process 0 alone reads and writes the cache.
  std::string home = (fs::temp_directory_path() / "preflightXXXXXX").string();
  if (rank == 0 && mkdtemp(home.data()) == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  if (rank == 0) setenv("XDG_CACHE_HOME", home.c_str(), 1);

  check_modes();
  check_cache(home);
  if (size == 2) check_defects();

  if (rank == 0) fs::remove_all(home);
  return verdict();
}
