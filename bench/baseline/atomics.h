// Raw atomic operations of the processor, each behind a call that is not inlined, as a library's would be.
//
// Thread safety: all may run at once on the same location.
// Memory ordering: sequentially consistent, as the read-modify-write instructions of the processor are.
#ifndef ARMCI_BENCH_BASELINE_ATOMICS_H_
#define ARMCI_BENCH_BASELINE_ATOMICS_H_

namespace armci::bench {

int FetchAddCall(int* location, int extra);
long FetchAddCall(long* location, long extra);
int ExchangeCall(int* location, int value);
long ExchangeCall(long* location, long value);

// One full memory barrier, inlined.
// Memory ordering: nothing crosses it in either direction, earlier stores and later loads included.
inline void FullBarrier() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_ATOMICS_H_
