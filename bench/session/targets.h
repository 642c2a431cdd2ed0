// The targets of the micro-benchmarks, in one table.
//
// Thread safety: read-only.
#ifndef ARMCI_BENCH_SESSION_TARGETS_H_
#define ARMCI_BENCH_SESSION_TARGETS_H_

#include <string_view>

#include "bench/common/comparison.h"

namespace armci::bench {

// The target of `key`. An empty key, for a case measured for information, has no limit; an unknown key ends the
// program with a message, since a misspelt one would let every result pass.
Target FindTarget(std::string_view key);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_TARGETS_H_
