#include "bench/common/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace armci::bench {
namespace {

constexpr long kIterationsMax = 1L << 30;
constexpr double kBudgetsMost = 3;          // that the least rounds may take
constexpr double kCalibrationShare = 0.25;  // of the budget, after which an action is not repeated

// Sets the iterations of one sample, and the estimate that decides about dropping: the best of a few samples, since
// a disturbance only ever makes one slower.
void Calibrate(const Action& action, const SamplingPlan& plan, Series& series) {
  const double sample_s = plan.sample_s;
  double spent = 0;
  const auto run = [&](long iterations) {
    const double elapsed = action.seconds_for(iterations);
    spent += elapsed;
    return elapsed;
  };
  long iterations = 1;
  double elapsed = run(iterations);
  // The first call may make a connection, or register memory: one that seems long is asked again.
  if (elapsed >= sample_s / 4 && plan.calibration_repeats > 0 && elapsed < plan.budget_s) {
    spent = 0;
    elapsed = std::min(elapsed, run(iterations));
  }
  while (elapsed < sample_s / 4 && iterations < kIterationsMax) {
    iterations *= 2;
    elapsed = run(iterations);
  }
  double best = elapsed / static_cast<double>(iterations);
  if (best > 0) iterations = std::clamp(std::lround(sample_s / best), 1L, kIterationsMax);
  for (int repeat = 0; repeat < plan.calibration_repeats && spent < kCalibrationShare * plan.budget_s; ++repeat) {
    best = std::min(best, run(iterations) / static_cast<double>(iterations));
  }
  if (best > 0) iterations = std::clamp(std::lround(sample_s / best), 1L, kIterationsMax);
  series.iterations = iterations;
  series.calibrated_s = best;
}

void DropSlowCandidates(double drop_factor, std::vector<Series>& all) {
  double best = std::numeric_limits<double>::infinity();
  for (const Series& series : all) {
    if (series.role == Role::kBaseline) best = std::min(best, series.calibrated_s);
  }
  for (Series& series : all) {
    series.dropped = series.role == Role::kBaseline && series.calibrated_s > drop_factor * best;
  }
}

int RoundsWithin(const SamplingPlan& plan, const std::vector<Series>& all) {
  double round_s = 0;
  for (const Series& series : all) {
    if (!series.dropped) round_s += series.calibrated_s * static_cast<double>(series.iterations);
  }
  if (round_s <= 0) return plan.rounds_max;
  const double affordable = plan.budget_s / round_s;
  const double least = std::clamp(kBudgetsMost * affordable, double(std::min(plan.rounds_few, plan.rounds_min)),
                                  double(plan.rounds_min));
  return static_cast<int>(std::clamp(affordable, least, double(plan.rounds_max)));
}

}  // namespace

std::vector<Series> SampleInterleaved(const std::vector<Action>& actions, const SamplingPlan& plan) {
  std::vector<Series> all(actions.size());
  for (size_t i = 0; i < actions.size(); ++i) {
    all[i].name = actions[i].name;
    all[i].role = actions[i].role;
    all[i].layer = actions[i].role == Role::kSubject ? Layer::kLibrary : actions[i].layer;
    Calibrate(actions[i], plan, all[i]);
  }
  DropSlowCandidates(plan.drop_factor, all);

  std::vector<size_t> order;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].dropped) order.push_back(i);
  }
  std::mt19937_64 generator(plan.seed);
  const int rounds = RoundsWithin(plan, all);
  // An action that is too slow for its budget was warmed by its calibration.
  const int warm_up_rounds = rounds < plan.rounds_min ? 0 : plan.warm_up_rounds;
  for (int round = -warm_up_rounds; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), generator);
    for (size_t i : order) {
      const double elapsed = actions[i].seconds_for(all[i].iterations);
      if (round >= 0) all[i].seconds.push_back(elapsed / static_cast<double>(all[i].iterations));
    }
  }
  return all;
}

}  // namespace armci::bench
