// One finished case: its samples, what they say about the subject against its baseline, and whether a target is met.
//
// Thread safety: values without shared state.
#ifndef ARMCI_BENCH_COMMON_COMPARISON_H_
#define ARMCI_BENCH_COMMON_COMPARISON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "bench/common/sampler.h"
#include "bench/common/statistics.h"

namespace armci::bench {

// How a target limits the subject. "Time" and "rate" are medians over the rounds of one run.
enum class Limit {
  kNone,           // nothing is asked: the figure is for information
  kTimeAtMost,     // subject time <= factor * baseline time + allowance time
  kRateAtLeast,    // subject rate >= factor * baseline rate
  kSecondsAtMost,  // subject time <= factor seconds, independent of the baseline
  kValueAtMost,    // a counted value (bytes, descriptors) <= factor
};

struct Target {
  Limit limit = Limit::kNone;
  double factor = 0;
};

// The name of one case, and how its figures are shown.
struct CaseLabel {
  std::string name;          // "put", "get, aligned 8/0"
  std::string size;          // "8 B", "64 rows x 1 KiB"
  std::string target_key;    // row of the target table
  double bytes = 0;          // moved per iteration; not 0 shows rates in GB/s instead of times
  bool is_repeated = false;  // asked by other cases as well: here it is for its target
};

enum class Verdict { kInfo, kOk, kMiss };

struct CaseResult {
  CaseLabel label;
  Target target;
  std::vector<Series> series;
  Summary subject;            // seconds per iteration
  Summary baseline;           // of the fastest candidate
  std::string baseline_name;  // empty when there is none
  double allowance_s = 0;
  double ratio = 0;         // of medians: subject/baseline time, or its inverse for a rate target
  double ratio_paired = 0;  // the same as a median over rounds
  bool counted = false;     // and not timed: the value is subject.median
  Verdict verdict = Verdict::kInfo;
  double core_wait_share = 0;  // part of the time in which the measuring process waited for a core, worst process
};

// Draws the conclusions from the samples of one case. The baseline is the candidate with the lowest median.
CaseResult Compare(CaseLabel label, Target target, std::vector<Series> series);

// A result that was counted: memory growth, descriptors.
CaseResult CountedCase(CaseLabel label, Target target, double value);

const char* VerdictName(Verdict verdict);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_COMPARISON_H_
