// Order statistics of benchmark samples.
//
// Thread safety: pure functions. Invariants: none keeps state; every function copies what it has to sort.
#ifndef ARMCI_BENCH_COMMON_STATISTICS_H_
#define ARMCI_BENCH_COMMON_STATISTICS_H_

#include <vector>

namespace armci::bench {

// The centre and the spread of one series of samples; all zero for an empty series.
struct Summary {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  double minimum = 0;
};

// The q-quantile (0 <= q <= 1) with linear interpolation between neighbouring samples; 0 for an empty series.
double Quantile(std::vector<double> samples, double q);

Summary Summarise(const std::vector<double>& samples);

// The median over rounds of numerator[i] / denominator[i]. A disturbance that hits a whole round cancels here, which
// it does not in the ratio of two medians. Rounds with a zero denominator are left out.
double MedianOfRatios(const std::vector<double>& numerator, const std::vector<double>& denominator);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_STATISTICS_H_
