#include "bench/common/comparison.h"

#include <utility>

namespace armci::bench {
namespace {

const Series* FastestCandidate(const std::vector<Series>& all) {
  const Series* fastest = nullptr;
  double fastest_median = 0;
  for (const Series& series : all) {
    if (series.role != Role::kBaseline || series.seconds.empty()) continue;
    const double median = Quantile(series.seconds, 0.5);
    if (fastest == nullptr || median < fastest_median) {
      fastest = &series;
      fastest_median = median;
    }
  }
  return fastest;
}

const Series* FirstOf(const std::vector<Series>& all, Role role) {
  for (const Series& series : all) {
    if (series.role == role) return &series;
  }
  return nullptr;
}

Verdict Judge(const CaseResult& result) {
  bool met = true;
  switch (result.target.limit) {
    case Limit::kNone:
      return Verdict::kInfo;
    case Limit::kTimeAtMost:
      met = result.subject.median <= result.target.factor * result.baseline.median + result.allowance_s;
      break;
    case Limit::kRateAtLeast:
      met = result.ratio >= result.target.factor;
      break;
    case Limit::kSecondsAtMost:
    case Limit::kValueAtMost:
      met = result.subject.median <= result.target.factor;
      break;
  }
  return met ? Verdict::kOk : Verdict::kMiss;
}

// Without a target, what is shown as a rate is compared as one.
bool ComparesRates(const CaseResult& result) {
  return result.target.limit == Limit::kRateAtLeast || (result.target.limit == Limit::kNone && result.label.bytes > 0);
}

double Divide(double numerator, double denominator) { return denominator != 0 ? numerator / denominator : 0; }

}  // namespace

CaseResult Compare(CaseLabel label, Target target, std::vector<Series> series) {
  CaseResult result;
  result.label = std::move(label);
  result.target = target;
  result.series = std::move(series);
  const Series* subject = FirstOf(result.series, Role::kSubject);
  const Series* baseline = FastestCandidate(result.series);
  const Series* allowance = FirstOf(result.series, Role::kAllowance);
  if (subject != nullptr) result.subject = Summarise(subject->seconds);
  if (allowance != nullptr) result.allowance_s = Quantile(allowance->seconds, 0.5);
  if (subject != nullptr && baseline != nullptr) {
    result.baseline = Summarise(baseline->seconds);
    result.baseline_name = baseline->name;
    const bool rate = ComparesRates(result);
    result.ratio = rate ? Divide(result.baseline.median, result.subject.median)
                        : Divide(result.subject.median, result.baseline.median);
    result.ratio_paired = rate ? MedianOfRatios(baseline->seconds, subject->seconds)
                               : MedianOfRatios(subject->seconds, baseline->seconds);
  }
  result.verdict = Judge(result);
  return result;
}

CaseResult CountedCase(CaseLabel label, Target target, double value) {
  CaseResult result;
  result.label = std::move(label);
  result.target = target;
  result.subject = {value, value, value, value};
  result.counted = true;
  result.verdict = Judge(result);
  return result;
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kMiss:
      return "miss";
    case Verdict::kInfo:
      break;
  }
  return "info";
}

}  // namespace armci::bench
