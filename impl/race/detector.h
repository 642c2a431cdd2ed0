// find_races: the pairs of accesses to one byte of which at least one writes, and that no order of the program
// separates.
//
// Two accesses are ordered when one is complete in its memory before the other is issued. Accesses of one process to
// one place are ordered as ORD-4 says: a non-blocking store needs a fence before the next store.
//
// Not in conflict: reads; accumulates of one type [ACC-2]; atomics of one width [RMW-2]; words of flags and signals
// with each other, and with reads and atomics of such a word [ORD-5, EXT-3].
//
// Thread safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "impl/race/happens_before.h"
#include "impl/race/record.h"

namespace armci::race {

enum class Reason : std::uint8_t {
  kNoOrder,  // nothing orders the two calls
  kNoFence,  // the calls are ordered, but the store of the first is not complete
  kNoWait,   // the calls are ordered, but no wait has completed the first
};

struct Race {
  Access first;  // issued first, where the two are ordered
  Access second;
  std::uint64_t byte = 0;  // of the owner's part of the region
  Reason reason = Reason::kNoOrder;
};

// `accesses`: all to the memory of one process. For each pair of call sites of two processes one race.
std::vector<Race> find_races(std::vector<Access> accesses, const HappensBefore& order);

}  // namespace armci::race
