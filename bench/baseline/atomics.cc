#include "bench/baseline/atomics.h"

namespace armci::bench {

int FetchAddCall(int* location, int extra) { return __atomic_fetch_add(location, extra, __ATOMIC_SEQ_CST); }
long FetchAddCall(long* location, long extra) { return __atomic_fetch_add(location, extra, __ATOMIC_SEQ_CST); }
int ExchangeCall(int* location, int value) { return __atomic_exchange_n(location, value, __ATOMIC_SEQ_CST); }
long ExchangeCall(long* location, long value) { return __atomic_exchange_n(location, value, __ATOMIC_SEQ_CST); }

}  // namespace armci::bench
