#include "bench/common/verification.h"

#include <algorithm>

namespace armci::bench {
namespace {

constexpr size_t kPrime = 1009;
constexpr size_t kStep = 97;
constexpr double kCleared = -1;

// Of one verification, another one for each.
class Pattern {
 public:
  Pattern() : shift_(++turns_ * kStep) {}

  double operator()(size_t i) const { return static_cast<double>((i + shift_) % kPrime); }
  void Fill(const Mirror& mirror) const {
    for (size_t i = 0; i < mirror.count; ++i) mirror.local[i] = (*this)(i);
  }

 private:
  inline static size_t turns_ = 0;
  size_t shift_;
};

void Clear(const Mirror& mirror) { std::fill_n(mirror.local, mirror.count, kCleared); }

template <typename Expected>
std::string Fault(const Mirror& mirror, const char* transfer, Expected expected) {
  for (size_t i = 0; i < mirror.count; ++i) {
    if (mirror.local[i] == expected(i)) continue;
    return std::string("double ") + std::to_string(i) + " of " + std::to_string(mirror.count) + " after " + transfer +
           " is " + std::to_string(mirror.local[i]) + " and should be " + std::to_string(expected(i));
  }
  return "";
}

}  // namespace

std::string VerifyPut(const Mirror& mirror, const std::function<void()>& put) {
  const Pattern pattern;
  pattern.Fill(mirror);
  put();
  Clear(mirror);
  mirror.load();
  return Fault(mirror, "a put", pattern);
}

std::string VerifyGet(const Mirror& mirror, const std::function<void()>& get) {
  const Pattern pattern;
  pattern.Fill(mirror);
  mirror.store();
  Clear(mirror);
  get();
  return Fault(mirror, "a get", pattern);
}

std::string VerifyAccumulate(const Mirror& mirror, const std::function<void()>& accumulate) {
  const Pattern before;
  before.Fill(mirror);
  mirror.store();
  const Pattern added;
  added.Fill(mirror);
  accumulate();
  Clear(mirror);
  mirror.load();
  return Fault(mirror, "an accumulate", [&](size_t i) { return before(i) + added(i); });
}

}  // namespace armci::bench
