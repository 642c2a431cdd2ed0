// World among processes that are bound to CPUs: all count the CPUs that they may use together.
//
// Status 1 when a check fails.
#include <mpi.h>
#include <sched.h>

#include <cstdio>

#include "impl/runtime/world.h"

namespace {

// The CPUs that a world counts whose process `rank` is bound to the CPU at `place` of those that it may use.
int cpus_counted(const cpu_set_t& usable, int place) {
  cpu_set_t bound;
  CPU_ZERO(&bound);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &usable) && place-- == 0) CPU_SET(cpu, &bound);
  }
  if (sched_setaffinity(0, sizeof bound, &bound) != 0) return -1;
  armci::runtime::World world;
  const bool made = world.initialise(MPI_COMM_WORLD, 0).ok();
  const int counted = made ? world.machine_cpus() : -1;
  world.finalise();
  return counted;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  int failures = 0;
  const auto check = [&](int counted, int expected, const char* where) {
    if (counted == expected) return;
    ++failures;
    std::printf("FAILED on rank %d: %d CPUs counted of %d, %s\n", rank, counted, expected, where);
  };
  check(cpus_counted(usable, 0), 1, "all bound to one");
  if (CPU_COUNT(&usable) > 1) check(cpus_counted(usable, rank % 2), 2, "bound to two in turn");
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
