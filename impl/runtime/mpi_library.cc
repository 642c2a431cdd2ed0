#include "impl/runtime/mpi_library.h"

#include <mpi.h>

#include <array>
#include <cstring>

namespace armci::runtime {
namespace {

// The libraries differ in how long a version may be; the longest of those in use.
constexpr std::size_t kVersionMax = 8192;
static_assert(kVersionMax >= MPI_MAX_LIBRARY_VERSION_STRING);

constexpr const char* kOpenMpi = "Open MPI";

// MPICH and what descends from it have one binary interface under several names, Open MPI has its own.
#ifdef OPEN_MPI
constexpr bool kBuiltWithOpenMpi = true;
#else
constexpr bool kBuiltWithOpenMpi = false;
#endif

}  // namespace

const char* mpi_library_version() {
  static std::array<char, kVersionMax> text;
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  return text.data();
}

Status require_mpi_of_build() {
  const char* const version = mpi_library_version();
  const bool runs_open_mpi = std::strncmp(version, kOpenMpi, std::strlen(kOpenMpi)) == 0;
  if (runs_open_mpi == kBuiltWithOpenMpi) return kSuccess;
  const int first_line = static_cast<int>(std::strcspn(version, "\n"));
  return fail(Code::kLayerBelow, "ABI-1",
              "this library was built with %s, and the program runs with \"%.*s\": compile the program with the MPI "
              "library of this ARMCI, or link it with an ARMCI built with that of the program",
              kBuiltWithOpenMpi ? kOpenMpi : "MPICH", first_line < 60 ? first_line : 60, version);
}

}  // namespace armci::runtime
