// Every form in which a program may start MPI leads to MPI_THREAD_MULTIPLE (impl/api/entry_mpi.cc).
//
//   mpi_init_test c|c_thread|fortran|fortran_thread|f08|f08_thread
//
// Those of Fortran are called by the names that its compilers make of them. Status 1 when a check fails.
#include <mpi.h>

#include <string>

#include "armci.h"
#include "impl/testing/job.h"

extern "C" {
void mpi_init_(MPI_Fint* error);
void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
void mpi_init_f08_(MPI_Fint* error);
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
}

namespace {

using namespace armci::runtime::testing;

// The thread level that the program receives, or -1.
int start(const std::string& form, int* argc, char*** argv) {
  MPI_Fint required = MPI_THREAD_SINGLE;
  MPI_Fint provided = -1;
  MPI_Fint error = 0;
  if (form == "c") MPI_Init(argc, argv);
  if (form == "c_thread") MPI_Init_thread(argc, argv, required, &provided);
  if (form == "fortran") mpi_init_(&error);
  if (form == "fortran_thread") mpi_init_thread_(&required, &provided, &error);
  // The last argument is optional there.
  if (form == "f08") mpi_init_f08_(nullptr);
  if (form == "f08_thread") mpi_init_thread_f08_(&required, &provided, nullptr);
  return provided;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string form = argc > 1 ? argv[1] : "c";
  const int provided = start(form, &argc, &argv);
  read_rank();
  int level = -1;
  MPI_Query_thread(&level);
  check(level == MPI_THREAD_MULTIPLE, "the level is there");
  check(provided == (form.ends_with("_thread") ? level : -1), "the program receives the level");
  check(ARMCI_Init() == 0, "init succeeds between nodes");
  if (failures == 0) ARMCI_Finalize();
  return verdict();
}
