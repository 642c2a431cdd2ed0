#include "bench/kernels/mg/problem.h"

#include <algorithm>

namespace armci::bench::mg {
namespace {

constexpr std::uint64_t kFactor = 1220703125;  // 5^13
constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;

// 64 bits are enough, as both factors are taken modulo a power of 2.
std::uint64_t Times(std::uint64_t a, std::uint64_t b) { return (a * b) & kMask; }

std::uint64_t Power(std::uint64_t exponent) {
  std::uint64_t power = 1;
  for (std::uint64_t square = kFactor; exponent > 0; exponent /= 2, square = Times(square, square)) {
    if (exponent % 2 == 1) power = Times(power, square);
  }
  return power;
}

bool IsLarger(const Candidate& a, const Candidate& b) { return a.number > b.number; }
bool IsSmaller(const Candidate& a, const Candidate& b) { return a.number < b.number; }

template <typename Better>
void Consider(const Candidate& one, Better better, std::vector<Candidate>* kept) {
  if (kept->size() == kChargesOfASign && !better(one, kept->back())) return;
  kept->insert(std::upper_bound(kept->begin(), kept->end(), one, better), one);
  if (kept->size() > kChargesOfASign) kept->pop_back();
}

}  // namespace

Random::Random(std::uint64_t place) : state_(Times(Power(place), kSeed)) {}

std::uint64_t Random::Next() { return state_ = Times(state_, kFactor); }

void Extremes::Merge(const Extremes& other) {
  for (const Candidate& one : other.largest) Consider(one, IsLarger, &largest);
  for (const Candidate& one : other.smallest) Consider(one, IsSmaller, &smallest);
}

Extremes FindExtremes(const Extent& box, const std::array<int, 3>& origin, int points_a_side) {
  const auto side = static_cast<std::uint64_t>(points_a_side);
  Extremes found;
  for (int k = 0; k < box.n[2]; ++k) {
    for (int j = 0; j < box.n[1]; ++j) {
      const std::uint64_t row =
          static_cast<std::uint64_t>(origin[2] + k) * side + static_cast<std::uint64_t>(origin[1] + j);
      std::uint64_t place = row * side + static_cast<std::uint64_t>(origin[0]);
      Random random(place);
      for (int i = 0; i < box.n[0]; ++i, ++place) {
        const Candidate one = {random.Next(), place};
        Consider(one, IsLarger, &found.largest);
        Consider(one, IsSmaller, &found.smallest);
      }
    }
  }
  return found;
}

void SetCharges(const Extent& box, const std::array<int, 3>& origin, int points_a_side, const Extremes& charges,
                double* v) {
  std::fill_n(v, box.points(), 0.0);
  const auto set = [&](const std::vector<Candidate>& points, double charge) {
    for (const Candidate& point : points) {
      std::uint64_t left = point.place;
      size_t at = 0;
      bool is_inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const auto index = static_cast<int>(left % static_cast<std::uint64_t>(points_a_side));
        const int local = index - origin[static_cast<size_t>(axis)] + 1;
        is_inside = is_inside && local >= 1 && local <= box.n[static_cast<size_t>(axis)];
        at += static_cast<size_t>(local) * box.step(axis);
        left /= static_cast<std::uint64_t>(points_a_side);
      }
      if (is_inside) v[at] = charge;
    }
  };
  set(charges.largest, 1);
  set(charges.smallest, -1);
}

}  // namespace armci::bench::mg
