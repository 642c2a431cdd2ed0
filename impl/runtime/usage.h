// Usage: the bytes and the peer of the present call, for statistics and checks. The transfer notes them and the entry
// layer reads them.
//
// Thread safety: the counters belong to the calling thread; the flags change only at init and finalize.
#pragma once

#include <cstdint>

namespace armci::runtime {

enum ObserveFlag : std::uint32_t {
  kObserveUsage = 1,  // calls are counted, timed or logged: entry points note their usage
  kObserveCheck = 2,  // ARMCI_CHECK=1: the costly checks
  kObserveRaces = 4,  // ARMCI_CHECK=race: calls are recorded
};
// Read on every transfer; zero in ordinary runs.
inline std::uint32_t observe_flags = 0;

struct Usage {
  std::uint64_t bytes = 0;
  std::uint64_t same_node_bytes = 0;
  int peer = -1;
};
inline thread_local constinit Usage usage_of_call;

}  // namespace armci::runtime
