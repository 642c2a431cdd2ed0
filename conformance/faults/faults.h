// The programs of the fault tests: one binary, one case per run, started and judged by the Python tests beside it.
//
// A case is a function that runs on every process and returns the exit status of its process; the outcome that tests
// check is the status of the job, the lines it prints, and what it leaves in the system. Only the public API and MPI
// are used, so that any implementation can be linked.
#ifndef ARMCI_CONFORMANCE_FAULTS_FAULTS_H_
#define ARMCI_CONFORMANCE_FAULTS_FAULTS_H_

#include <span>
#include <string>
#include <vector>

namespace faults {

struct World {
  int me = 0;
  int nproc = 1;
  std::vector<std::string> arguments;  // of the case, on the command line behind its name
};

struct Case {
  const char* name;
  const char* arguments;
  const char* text;
  // Whether main() initialises MPI and ARMCI before the case; the others do it themselves, or do not.
  bool initialised;
  int (*run)(const World& world);
};

// The cases of each file.
std::span<const Case> StateCases();
std::span<const Case> DeathCases();
std::span<const Case> MemoryCases();

// Prints one line on stdout by one write, so that lines of several processes do not mix.
[[gnu::format(printf, 1, 2)]] void Say(const char* format, ...);

// Ends the process with status 99, which no case returns, when code is not 0.
void Check(int code, const char* call);

// The number in argument `index`, or `missing`.
long Number(const World& world, size_t index, long missing);

}  // namespace faults

#endif  // ARMCI_CONFORMANCE_FAULTS_FAULTS_H_
