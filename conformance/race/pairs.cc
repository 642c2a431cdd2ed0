// Runs the pairs, each program between an init and a finalize of its own, at whose end the library prints the races.
//
//   race_pairs [TEXT]   only pairs whose name has the text
//
// Before each program process 0 prints "program: race|free: NAME" on stderr, where the library prints too.
#include "conformance/race/pairs.h"

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace {

using armci_race::Job;
using armci_race::kProcesses;
using armci_race::kRegionBytes;

void run(const armci_race::Pair& pair, bool racy) {
  const auto job = std::make_unique<Job>();
  MPI_Comm_rank(MPI_COMM_WORLD, &job->me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job->me == 0) std::fprintf(stderr, "program: %s: %s\n", racy ? "race" : "free", pair.name.c_str());
  ARMCI_Init();
  ARMCI_INIT_HANDLE(&job->handle);
  ARMCI_Malloc(job->base, kRegionBytes);
  ARMCI_Malloc(job->other_base, kRegionBytes);
  std::memset(job->base[job->me], 0, kRegionBytes);
  ARMCI_Barrier();
  pair.run(*job, racy);
  ARMCI_Barrier();
  ARMCI_Free(job->other_base[job->me]);
  ARMCI_Free(job->base[job->me]);
  ARMCI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (processes != kProcesses) {
    std::fprintf(stderr, "race_pairs runs with %d processes, not with %d\n", kProcesses, processes);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<armci_race::Pair> pairs;
  armci_race::add_synchronised(&pairs);
  armci_race::add_signalled(&pairs);
  armci_race::add_ordered(&pairs);
  armci_race::add_placed(&pairs);
  armci_race::add_mixed(&pairs);
  for (const armci_race::Pair& pair : pairs) {
    if (argc > 1 && pair.name.find(argv[1]) == std::string::npos) continue;
    for (const bool racy : {true, false}) run(pair, racy);
  }
  MPI_Finalize();
  return 0;
}
