#include "impl/mpi-rma/preflight/library.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

extern char** environ;

namespace armci::rma {
namespace {

constexpr std::string_view kTransportSettings[] = {"UCX_",         "FI_",          "OMPI_MCA_osc",
                                                   "OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl",
                                                   "MPIR_CVAR_",   "PSM2_",        "I_MPI_FABRICS"};
// Other in every job, and no matter of transport.
constexpr std::string_view kIgnoredSettings[] = {
    "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_osc_sm_backing_directory", "OMPI_MCA_osc_rdma_backing_directory",
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"};

std::string version_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  while (!version.empty() && (version.back() == '\n' || version.back() == '\0')) version.pop_back();
  std::replace(version.begin(), version.end(), '\n', ' ');
  return version;
}

// The file that MPI_Init comes from; a program that is linked statically names itself.
std::string file_text() {
  Dl_info where{};
  struct stat status {};
  if (dladdr(reinterpret_cast<const void*>(&MPI_Get_library_version), &where) == 0 || where.dli_fname == nullptr ||
      stat(where.dli_fname, &status) != 0) {
    return "unknown";
  }
  return std::string(where.dli_fname) + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

std::string environment_text(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Whether a list of components of Open MPI, of those wanted or (^) of those not wanted, leaves one.
bool allows(std::string_view list, std::string_view component) {
  return contains(list, component) != (list.front() == '^');
}

// Whether Open MPI's one-sided component ucx may be chosen: named, or left to Open MPI. Open MPI prefers it where UCX
// has hardware, and where nothing else reaches another node.
bool may_be_osc_ucx(const LibraryFacts& facts) {
  return facts.osc.empty() ? facts.has_rdma_device || facts.nodes > 1 : allows(facts.osc, "ucx");
}

// Whether its component rdma may be: named, or left to Open MPI.
bool may_be_osc_rdma(const LibraryFacts& facts) { return facts.osc.empty() || allows(facts.osc, "rdma"); }

// Whether sm may be, for memory of MPI_Win_allocate on one node.
bool may_be_osc_sm(const LibraryFacts& facts) {
  return facts.nodes == 1 && (facts.osc.empty() || allows(facts.osc, "sm"));
}

}  // namespace

std::string library_description() {
  std::string text = "version: " + version_text() + "\nfile: " + file_text() + "\n";
  std::vector<std::string> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view setting(*entry);
    const auto begins = [&](std::string_view prefix) { return setting.substr(0, prefix.size()) == prefix; };
    if (std::any_of(std::begin(kTransportSettings), std::end(kTransportSettings), begins) &&
        std::none_of(std::begin(kIgnoredSettings), std::end(kIgnoredSettings), begins)) {
      settings.emplace_back(setting);
    }
  }
  std::sort(settings.begin(), settings.end());
  for (std::string& setting : settings) {
    std::replace(setting.begin(), setting.end(), '\n', ' ');
    text += "setting: " + setting + "\n";
  }
  return text;
}

LibraryFacts library_facts(int nodes) {
  LibraryFacts facts;
  facts.version = version_text();
  facts.osc = environment_text("OMPI_MCA_osc");
  facts.ucx_tls = environment_text("UCX_TLS");
  facts.has_rdma_device = access("/sys/class/infiniband", F_OK) == 0;
  facts.nodes = nodes;
  return facts;
}

Findings faults_by_version(const LibraryFacts& facts) {
  Findings found;
  const bool open_mpi = contains(facts.version, "Open MPI");
  // Derivatives of MPICH print its version and its device as well.
  const bool mpich = contains(facts.version, "MPICH");
  if (open_mpi) {
    if (may_be_osc_rdma(facts)) {
      found.add(Fault::kDisplacement32);
      found.add(Fault::kAllocateConcurrent);
      found.add(Fault::kAllocateSwapCrash);
    }
    if (may_be_osc_sm(facts)) found.add(Fault::kAllocatePutTwice);
    if (may_be_osc_ucx(facts)) {
      found.add(Fault::kRputOutstanding);
      found.add(Fault::kRequestLost);
      found.add(Fault::kRequestDynamic);
      // Seen where UCX reads from another process by messages.
      if (!facts.has_rdma_device) found.add(Fault::kDynamicPieces);
      found.add(Fault::kGetAccumulateHang);
      found.add(Fault::kAtomicStarvation);
      found.add(Fault::kAccumulateBottom);
      found.add(Fault::kPassiveProgress);
      found.add(Fault::kPutTorn);
    }
  }
  if (mpich) {
    found.add(Fault::kRequestsLimited);
    found.add(Fault::kPassiveProgress);
    if (contains(facts.version, "ch4:ucx")) {
      found.add(Fault::kAccumulateHeader);
      found.add(Fault::kGetFlushLocal);
      found.add(Fault::kPutTorn);
      // Probed as well, but it has to be known without probes: data would be wrong.
      found.add(Fault::kAllocateUnequal);
      // Probed as well, but it takes bad luck to see them, and an absence would be kept.
      found.add(Fault::kRputNoncontiguous);
      found.add(Fault::kRgetNoncontiguous);
    }
    if (contains(facts.version, "ch4:ofi")) found.add(Fault::kRputPackedCrash);
  }
  if (!open_mpi && !mpich) {
    // A stranger: nothing is known, so the dear methods only where their absence hangs.
    found.add(Fault::kPassiveProgress);
    found.add(Fault::kRequestsLimited);
  }
  return found;
}

}  // namespace armci::rma
