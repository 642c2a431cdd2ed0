// A program that keeps MPI below MPI_THREAD_MULTIPLE: ARMCI_Init says so on all processes, and works once no progress
// thread is requested.
//
//   thread_level_test single|funneled|mixed refused|works
//
// mixed: process 0 alone. refused: several nodes; works: one node, where there is no thread. Status 1 when a check
// fails.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "armci.h"
#include "impl/testing/trial.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;

// Known before MPI is started.
bool is_first() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* text = std::getenv(name); text != nullptr) return std::strcmp(text, "0") == 0;
  }
  return true;
}

// `low`: this process has the level that is too low.
void check_refused(int level, bool low) {
  std::string said;
  const int code = init(&said);
  check(code != 0, "init fails on all processes");
  check(names(said, "ARMCI_Init"), "the line names the call");
  check(names(said, "thread level " + std::to_string(level)) || !low, "the line names the thread level");
  check(names(said, "MPI_Init_thread with MPI_THREAD_MULTIPLE") || !low, "the line says what to do");
  check(names(said, "ARMCI_RMA_PROGRESS=0") || !low, "the line says what else can be done");
  check(ARMCI_Initialized() == 0, "the library is down");
  if (failures > 0) std::fprintf(stderr, "rank %d: %s", rank, said.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "single";
  const bool refused = argc > 2 && std::strcmp(argv[2], "refused") == 0;
  const bool low = word != "mixed" || is_first();
  const int lowest = word == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
  alarm(kHangSeconds);
  // MPI_Init_thread is this library's and would request more (impl/api/entry_mpi.cc), and choose this as well.
  setenv("OMPI_MCA_osc", "^rdma", 0);
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Init_thread(&argc, &argv, low ? lowest : MPI_THREAD_MULTIPLE, &level);
  read_rank();
  check(level < MPI_THREAD_MULTIPLE || !low, "the MPI library has a lower thread level");
  if (refused && failures == 0) {
    check_refused(level, low);
    setenv("ARMCI_RMA_PROGRESS", "0", 1);
  }
  if (failures == 0) check_works();
  return verdict();
}
