// The cases of the benchmark "transfers", the same for every interface: results differ in their candidates
// alone.
//
// Thread safety: pure functions.
#ifndef ARMCI_BENCH_COMMON_TRANSFER_CASES_H_
#define ARMCI_BENCH_COMMON_TRANSFER_CASES_H_

#include <cstddef>
#include <vector>

#include "bench/common/comparison.h"

namespace armci::bench {

inline constexpr size_t kLongestTransfer = size_t{64} << 20;

// In bytes, ascending; whole doubles.
inline std::vector<size_t> TransferLengths(bool quick) {
  std::vector<size_t> lengths;
  const size_t end = quick ? kLongestTransfer / 16 : kLongestTransfer;
  for (size_t bytes = sizeof(double); bytes < end; bytes *= quick ? 8 : 4) lengths.push_back(bytes);
  if (!quick) lengths.push_back(kLongestTransfer);
  return lengths;
}

// Of the rate: non-blocking puts that are completed together.
inline constexpr int kRatePuts = 64;
inline constexpr size_t kRateBytes = 8;

inline CaseLabel RateLabel() { return {"put rate", "64 x 8 B", ""}; }

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_TRANSFER_CASES_H_
