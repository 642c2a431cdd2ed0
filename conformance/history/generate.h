// Makes random programs. The same seed, number of ranks and recipe give the same program on every machine.
#ifndef CONFORMANCE_HISTORY_GENERATE_H_
#define CONFORMANCE_HISTORY_GENERATE_H_

#include <cstdint>

#include "conformance/history/program.h"

namespace conformance::history {

// No program needs more memory at a rank.
inline constexpr int kPartBytesMax = 192 * 1024;

struct Recipe {
  int steps = 40;  // for each rank, those that synchronise not counted
  // Kinds of synchronisation; without any, ranks meet only at the end.
  bool barriers = true;
  bool mutexes = true;
  bool notifications = true;
  bool messages = true;
  bool counters_only = false;   // RMW on two locations and little else
  bool loads_anywhere = false;  // all ranks are on one node; otherwise a rank loads from its own part only
};

Program Generate(std::uint64_t seed, int ranks, const Recipe& recipe);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_GENERATE_H_
