#include "bench/common/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace armci::bench {

double Quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(std::floor(position));
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = position - static_cast<double>(below);
  return samples[below] * (1 - weight) + samples[above] * weight;
}

Summary Summarise(const std::vector<double>& samples) {
  return {Quantile(samples, 0.5), Quantile(samples, 0.1), Quantile(samples, 0.9), Quantile(samples, 0.0)};
}

double MedianOfRatios(const std::vector<double>& numerator, const std::vector<double>& denominator) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(numerator.size(), denominator.size()); ++i) {
    if (denominator[i] != 0) ratios.push_back(numerator[i] / denominator[i]);
  }
  return Quantile(std::move(ratios), 0.5);
}

}  // namespace armci::bench
