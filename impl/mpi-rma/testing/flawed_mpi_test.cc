// An MPI library with one fault more (preflight/testing/defects.h), on process 0 alone. At init ARMCI finds the fault
// and works around it, or says that it cannot.
//
//   flawed_mpi_test DEFECT works|refused      DEFECT: a name of the table of defects
//
// Status 1 when a check fails.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "impl/mpi-rma/preflight/testing/defects.h"
#include "impl/testing/trial.h"

namespace {

namespace fs = std::filesystem;
using namespace armci::runtime::testing;
using namespace armci::rma::testing;

constexpr unsigned kHangSeconds = 120;

void check_refused(const char* fault) {
  std::string said;
  check(init(&said) != 0, "init fails on all processes");
  check(names(said, fault), "the line names the fault");
  check(names(said, "tools/armci mpi-doctor"), "the line says what to do");
  check(ARMCI_Initialized() == 0, "the library is down");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const bool refused = argc > 2 && std::strcmp(argv[2], "refused") == 0;
  alarm(kHangSeconds);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  const auto rows = defect_table();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const DefectRow& one) { return name == one.name; });
  check(row != rows.end(), "there is such a defect");
  if (failures > 0) return verdict();
  // A cache of its own: the results of this test must not pass for those of the real library.
  std::string home = (fs::temp_directory_path() / "flawedXXXXXX").string();
  if (mkdtemp(home.data()) == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  setenv("XDG_CACHE_HOME", home.c_str(), 1);
  if (rank == 0) set_defect(row->defect);
  const char* const fault = armci::rma::fault_row(row->expected).id;
  if (refused) {
    check_refused(fault);
  } else {
    check(ARMCI_Init() == 0, "init succeeds");
    check(is_found(fault), "the fault is a finding");
    check(ARMCI_Finalize() == 0, "finalize");
    check_works();
  }
  fs::remove_all(home);
  return verdict();
}
