// The command line of a benchmark, and the file with its results. They know nothing of ARMCI.
//
// Thread safety: none needed, one caller.
#ifndef ARMCI_BENCH_SESSION_OPTIONS_H_
#define ARMCI_BENCH_SESSION_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/comparison.h"
#include "bench/common/sampler.h"

namespace armci::bench {

struct Options {
  double seconds = 15;
  bool quick = false;
  bool strict = false;
  bool progress = false;
  bool target_sleeps = false;
  uint64_t seed = 1;
  std::string json_path;
  std::string filter;
};

// Reads the command line of the benchmark `name`, which answers `text`. Where there is nothing to do, for --help or a
// line that is wrong, the status with which the process is to end; the reason is printed if `speak`.
std::optional<int> ReadOptions(int argc, char** argv, const char* name, const std::string& text, bool speak,
                               Options* options);

// How each of `cases` cases is sampled that share the time.
SamplingPlan PlanOf(const Options& options, size_t cases);

// Whether the filter has a case take place.
bool IsChosen(const Options& options, const CaseLabel& label);

// Whose results they are.
struct Origin {
  std::string benchmark;
  std::string question;
  std::string implementation;
  std::string layer_below;  // MPI, as it calls itself
  int ranks;
};

// Writes schema armci-bench-1: what was asked, the environment, the results with their samples. False, and a line on
// the error stream, where the file cannot be written.
bool WriteResults(const Options& options, const Origin& origin, const std::map<std::string, std::string>& notes,
                  const std::vector<CaseResult>& results);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_OPTIONS_H_
