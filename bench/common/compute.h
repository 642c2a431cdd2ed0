// A process that computes.
//
// Thread safety: pure functions.
#ifndef ARMCI_BENCH_COMMON_COMPUTE_H_
#define ARMCI_BENCH_COMMON_COMPUTE_H_

namespace armci::bench {

// For about so long, without touching memory.
void Compute(double seconds);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_COMPUTE_H_
