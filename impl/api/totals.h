// Totals of the process over all calls, by kind of call, from the per-call statistics. ARMCIX_Stats_get reports them.
//
// Thread safety: all functions may be called by several threads.
#pragma once

#include <cstdint>

#include "armcix.h"
#include "impl/api/api_id.h"
#include "impl/runtime/usage.h"

namespace armci::runtime {

// Adds one finished call to the statistics (a no-op when ARMCI_STATS is off).
void count_call(ApiId id, const Usage& usage, std::uint64_t nanoseconds);
void count_error();

// The region fields are left at 0 for the caller to fill.
armcix_stats_t snapshot_totals();
void reset_totals();

int find_call(const char* name);  // the number of a public function, -1: no such one

}  // namespace armci::runtime
