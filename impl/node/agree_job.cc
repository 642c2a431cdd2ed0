// agree() among several processes: the error names the first process that failed, with its code, and a process that
// failed keeps its own failure.
//
// Status 1 when a check fails.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "impl/node/agree.h"

namespace {

using armci::Code;
using armci::fail;
using armci::kSuccess;
using armci::last_cause;
using armci::Status;
using armci::node::agree;

int rank = 0;
int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("FAILED on rank %d: %s\n", rank, what);
}

// `failing` of the processes fail, from rank `first` on, each with a code of its own, the first with the smallest.
void check_failures(int first, int failing) {
  const bool mine_fails = rank >= first && rank < first + failing;
  const Status mine =
      mine_fails ? fail(rank == first ? Code::kProc : Code::kLayerBelow, "ERR-1", "mine, %d", rank) : kSuccess;
  const Status all = agree(MPI_COMM_WORLD, mine, "trying", "MEM-8");
  check(!all.ok(), "all fail");
  if (mine_fails) {
    check(all.code() == mine.code() && std::string(last_cause().text) == "mine, " + std::to_string(rank),
          "a process that failed keeps its own failure");
  } else {
    check(all.code() == Code::kProc, "the others have the code of the first that failed");
    const std::string named = "trying failed on process " + std::to_string(first) + " ";
    check(std::string(last_cause().text).find(named) == 0, "and name it");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(agree(MPI_COMM_WORLD, kSuccess, "trying").ok(), "all succeed");
  for (int first = 0; first < size; ++first) {
    for (int failing = 1; failing <= size - first; ++failing) check_failures(first, failing);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
