// The MPI library of this process: what it is, how it is set, and what its version is known for.
//
// Thread safety: any thread, while no thread changes the environment.
#pragma once

#include <string>

#include "impl/mpi-rma/preflight/faults.h"

namespace armci::rma {

// The facts that the findings depend on, one `name: value` in a line. They are the library's text of its version, its
// file with size and time of change, and the settings that choose its transport.
std::string library_description();

// The facts that decide the faults of Evidence::kVersion.
struct LibraryFacts {
  std::string version;  // MPI_Get_library_version
  std::string osc;      // OMPI_MCA_osc
  std::string ucx_tls;  // UCX_TLS
  bool has_rdma_device = false;
  int nodes = 1;
};
LibraryFacts library_facts(int nodes);

Findings faults_by_version(const LibraryFacts& facts);
inline Findings faults_by_version(int nodes) { return faults_by_version(library_facts(nodes)); }

}  // namespace armci::rma
