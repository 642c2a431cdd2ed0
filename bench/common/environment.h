// The environment of a measurement, so that a JSON file can be judged later without its machine.
#ifndef ARMCI_BENCH_COMMON_ENVIRONMENT_H_
#define ARMCI_BENCH_COMMON_ENVIRONMENT_H_

#include <nlohmann/json.hpp>

namespace armci::bench {

// Processor, operating system, compiler, allowed processors, load and the environment variables that change timings
// (of ARMCI, of the MPI libraries and below, and glibc's tunables).
nlohmann::json DescribeEnvironment();

// Seconds this process has so far been ready to run without a core to run on; 0 where the system does not tell. When
// this grows while something is timed, other programs were in the way.
double SecondsWithoutCore();

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_ENVIRONMENT_H_
