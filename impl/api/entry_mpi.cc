// MPI_Init, MPI_Init_thread and MPI_Finalize of the program, from C and Fortran, by MPI's profiling interface.
//
// A linker leaves out MPI's Fortran library if libarmci has all of its names that the program needs. The program then
// starts only on implementations that have these names. So each implementation has all of them. A program that starts
// MPI by another name (PMPI_Init, say) has to request MPI_THREAD_MULTIPLE itself where a thread of the transport calls
// MPI.
#include <mpi.h>

#include "impl/api/entry.h"
#include "impl/api/library.h"
#include "impl/runtime/mpi_start.h"

namespace armci::runtime::api {
namespace {

int init_mpi(int* argc, char*** argv, int required, int* provided) {
  if constexpr (SelectedTransport::kTraits.thread_calls_mpi) required = prepare_mpi(required);
  return PMPI_Init_thread(argc, argv, required, provided);
}

}  // namespace
}  // namespace armci::runtime::api

extern "C" {

[[gnu::visibility("default")]] int MPI_Init(int* argc, char*** argv) {
  // PMPI_Init also reads the thread level that the user gave MPI by a variable.
  if constexpr (!armci::SelectedTransport::kTraits.thread_calls_mpi) return PMPI_Init(argc, argv);
  int provided = 0;
  return armci::runtime::api::init_mpi(argc, argv, MPI_THREAD_SINGLE, &provided);
}

[[gnu::visibility("default")]] int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return armci::runtime::api::init_mpi(argc, argv, required, provided);
}

[[gnu::visibility("default")]] int MPI_Finalize() {
  armci::runtime::end_with_mpi();
  return PMPI_Finalize();
}

[[gnu::visibility("default")]] void mpi_init_(MPI_Fint* error) { *error = MPI_Init(nullptr, nullptr); }

[[gnu::visibility("default")]] void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  int level = 0;
  *error = MPI_Init_thread(nullptr, nullptr, *required, &level);
  *provided = level;
}

[[gnu::visibility("default")]] void mpi_finalize_(MPI_Fint* error) { *error = MPI_Finalize(); }

// Of the module mpi_f08, where the last argument is optional.

[[gnu::visibility("default")]] void mpi_init_f08_(MPI_Fint* error) {
  MPI_Fint code = 0;
  mpi_init_(error != nullptr ? error : &code);
}

[[gnu::visibility("default")]] void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  MPI_Fint code = 0;
  mpi_init_thread_(required, provided, error != nullptr ? error : &code);
}

[[gnu::visibility("default")]] void mpi_finalize_f08_(MPI_Fint* error) {
  MPI_Fint code = 0;
  mpi_finalize_(error != nullptr ? error : &code);
}

}  // extern "C"
