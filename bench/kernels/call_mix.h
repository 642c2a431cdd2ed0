// A schedule of one-sided calls with the mix of a quantum-chemistry program, scaled down.
//
// A run of NWChem with 869.5 million calls made 385 million puts of 2.2 KB on average, 428 million accumulates of 29
// KB, 55 million non-blocking gets of 140 KB and 1.5 million read-modify-writes. Here each process makes one call for a
// million of those, in a random order, each on a process drawn from all, itself too:
//   lengths   in doubles; half of them drawn evenly from 1 to the mean, half from 1 to three times the mean, so that
//             most are short, a few long, and the mean is as it was
//   puts      each to a place of its own in the put area of the target, so that all can be checked afterwards
//   the rest  anywhere in the areas for accumulates and for gets, which all processes share
//
// Thread safety: values and a pure function.
// Invariants: the schedule depends on the number of processes alone, so that all processes know the calls of all.
#ifndef ARMCI_BENCH_KERNELS_CALL_MIX_H_
#define ARMCI_BENCH_KERNELS_CALL_MIX_H_

#include <vector>

namespace armci::bench {

enum class CallKind { kPut, kAccumulate, kGet, kFetchAndAdd };

struct KindOfCall {
  CallKind kind;
  int calls;  // of each process
  long mean;  // doubles
};

constexpr KindOfCall kCallKinds[] = {{CallKind::kPut, 385, 2200 / 8},
                                     {CallKind::kAccumulate, 428, 29'000 / 8},
                                     {CallKind::kGet, 55, 140'000 / 8},
                                     // And a second one by every other process.
                                     {CallKind::kFetchAndAdd, 1, 0}};

constexpr long kLongestOfMean = 3;
constexpr long kAccumulateArea = 64 * 1024;  // doubles of one process
constexpr long kGetArea = 128 * 1024;

// The values of puts and accumulates are those of a pattern, from some place on. Whole numbers: sums are exact.
constexpr long kPatternPlaces = 1000;
constexpr double PatternAt(long place) { return static_cast<double>(1 + place % 1009); }

struct Call {
  CallKind kind;
  int target;
  long offset;   // in the area of the kind at the target, in doubles
  long length;   // in doubles; of a fetch-and-add 0
  long pattern;  // place in the pattern, below kPatternPlaces; of a fetch-and-add, what is added
};

struct CallMix {
  std::vector<std::vector<Call>> calls;  // of each process
  long put_area = 0;                     // doubles, of every process: as many as the one needs that gets most
};

CallMix MakeCallMix(int processes);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_CALL_MIX_H_
