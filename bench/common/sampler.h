// Interleaved sampling: several ways of doing the same thing, timed round by round in a changing order.
//
// Every round times each action once, so that a slow moment of the machine hits all of them alike and the ratio
// survives what the absolute figures do not. The order within a round is shuffled, since an action that always ran
// after the same neighbour would inherit that neighbour's caches.
//
//   calibrate: per action, double the iterations until a sample is long enough, then scale to sample_s; repeat, but not
//              what takes a good part of the budget
//   drop:      a baseline candidate far behind the best one is not timed further (there may be ten copy routines)
//   warm up:   discarded rounds
//   measure:   as many rounds as the budget allows, between rounds_min and rounds_max; where rounds_min would take
//              several times the budget, without warming up and as few as keep near it, but rounds_few at least
//
// Thread safety: none needed, one caller. Collective use: when every process runs the sampler on actions that return
// the same time everywhere, all decisions are the same everywhere, because nothing but those times and the seed
// enters them (the budget counts returned times, never a clock).
#ifndef ARMCI_BENCH_COMMON_SAMPLER_H_
#define ARMCI_BENCH_COMMON_SAMPLER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/clock.h"

namespace armci::bench {

// The role of an action in a comparison.
enum class Role {
  kSubject,    // the call under test; exactly one
  kBaseline,   // a raw way of doing the same; the fastest candidate is what the subject is compared with
  kAllowance,  // a raw cost granted on top of the baseline (for put and fence: the memory barrier)
  kContext,    // timed and reported, not part of any target
};

// Whose calls an action times.
enum class Layer {
  kLibrary,  // the library's that is measured; the subject's always are
  kRaw,      // of what lies below it or beside it, the same whichever library is measured
};

// Something that can be timed: `seconds_for(n)` does it n times and returns the seconds this took.
struct Action {
  std::string name;
  Role role;
  std::function<double(long)> seconds_for;
  Layer layer = Layer::kRaw;
};

// For an action that is not the subject and calls the library as well: the same in another way.
inline Action OfTheLibrary(Action action) {
  action.layer = Layer::kLibrary;
  return action;
}

struct SamplingPlan {
  double budget_s = 0.2;     // for the measured rounds of all actions together
  double sample_s = 0.5e-3;  // length of one sample
  int rounds_min = 9;
  int rounds_max = 151;
  int rounds_few = 3;
  double drop_factor = 1.5;  // candidates slower than this times the best candidate are dropped after calibration
  uint64_t seed = 1;
  // Both 0 where one iteration is a whole program, which takes long and is warm when it ends.
  int calibration_repeats = 3;
  int warm_up_rounds = 1;
};

// The samples of one action; `seconds` is per iteration, one entry per round. A dropped candidate has no samples and
// keeps its estimate from calibration.
struct Series {
  std::string name;
  Role role = Role::kContext;
  Layer layer = Layer::kRaw;
  long iterations = 1;
  double calibrated_s = 0;
  bool dropped = false;
  std::vector<double> seconds;
};

// Times `actions` as described above; the result is in the order given.
std::vector<Series> SampleInterleaved(const std::vector<Action>& actions, const SamplingPlan& plan);

// An action that calls `body` n times between two readings of the monotonic clock. The loop is inside the template,
// so that nothing but the body itself is repeated.
template <typename Body>
Action Loop(std::string name, Role role, Body body) {
  return {std::move(name), role, [body](long iterations) {
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) body();
            return NowSeconds() - start;
          }};
}

// As Loop, with work after each few calls that is not in the time.
template <typename Body, typename Afterwards>
Action LoopWithBreaks(std::string name, Role role, long calls, Body body, Afterwards afterwards) {
  return {std::move(name), role, [=](long iterations) {
            double seconds = 0;
            for (long done = 0; done < iterations; done += calls) {
              const double start = NowSeconds();
              for (long i = 0; i < std::min(calls, iterations - done); ++i) body();
              seconds += NowSeconds() - start;
              afterwards();
            }
            return seconds;
          }};
}

// The same behind one call that is not in the time: a server that has slept through the others' turns wakes up. How
// long that takes is another question (busy).
template <typename Call>
Action Awake(const Action& action, Call call) {
  return {action.name, action.role, [=](long iterations) {
            call();
            return action.seconds_for(iterations);
          }};
}

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_SAMPLER_H_
