// Statistics (ARMCI_STATS=1) of each API call: the number of calls, the bytes by size, and the time.
//
// Calls are numbers 0..count-1 with a table of names given at initialise(); this file knows no call by name.
//
// Thread safety: record(), snapshot(), find() and reset() may run in any thread at any time between initialise() and
// finalise(). Counters are relaxed atomics, spread over a few shards so that threads rarely share a cache line; a
// snapshot taken while calls run may miss the latest of them but never shows a torn or decreasing counter.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "impl/base/status.h"

namespace armci::runtime {

// Bucket 0 counts calls of 0 bytes; bucket k > 0 counts 2^(k-1) <= bytes < 2^k; the last one everything above as well.
inline constexpr int kSizeBuckets = 48;

constexpr int size_bucket(uint64_t bytes) {
  const int width = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
  return width < kSizeBuckets ? width : kSizeBuckets - 1;
}

struct CallStats {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
  uint64_t histogram[kSizeBuckets] = {};
};

class Stats {
 public:
  Stats();
  ~Stats();
  Stats(const Stats&) = delete;
  Stats& operator=(const Stats&) = delete;

  // Begins to count from zero. `names` must outlive this object. kMemory when the counters do not fit.
  Status initialise(const char* const* names, int count);
  // Stops counting and releases the counters; snapshots are empty afterwards.
  void finalise();
  bool enabled() const { return count_ > 0; }

  // Adds one call. Does nothing when not enabled or when `call` is outside the table.
  void record(int call, uint64_t bytes, uint64_t nanoseconds);

  int count() const { return count_; }
  const char* name(int call) const { return names_[call]; }
  int find(const char* name) const;  // -1: no such call
  CallStats snapshot(int call) const;
  void reset();

  // Collective over `comm`: its rank 0 prints the counters of all its processes to `out` (ignored elsewhere). The table
  // has the least, mean and most over the processes for each call. Processes that do not count take part with zeros;
  // nothing is printed when none counts.
  Status print_summary(MPI_Comm comm, FILE* out) const;

 private:
  struct Counters;
  static constexpr int kShards = 8;

  const char* const* names_ = nullptr;
  int count_ = 0;
  std::unique_ptr<Counters[]> shards_[kShards];
};

// The statistics of this process; enabled only with ARMCI_STATS=1.
Stats& stats();

}  // namespace armci::runtime
