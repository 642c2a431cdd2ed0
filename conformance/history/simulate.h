// A simulated machine on which programs run without MPI, so that the judges can be judged.
//
// The machine is as weak as the clauses allow: stores stay pending for any time until a fence, non-blocking ones
// overtake each other, a non-blocking get reads at any time before its wait. Histories made without a fault must be
// legal; with a fault, some must not be.
#ifndef CONFORMANCE_HISTORY_SIMULATE_H_
#define CONFORMANCE_HISTORY_SIMULATE_H_

#include <cstdint>
#include <optional>

#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

enum class Fault {
  kNone,
  kFenceDoesNothing,
  kFenceForgetsNonblocking,
  kNotifyDoesNotOrder,
  kBarrierDoesNotFence,
  kEarlyWait,         // of a get: the data is not there yet
  kReorderedPuts,     // of blocking stores to one target
  kGetOvertakesPut,   // of the same rank
  kTornElement,       // the halves of a put arrive one after the other
  kLostAccumulate,    // reads, later writes
  kTwiceAccumulated,  // now and then
  kLostRmw,           // reads, later writes
  kStaleRmw,          // returns what the location held some time ago
  kMutexLetsTwoIn,
  kStrayWrite,  // to the next cell as well
};

// Nothing if the program does not come to its end.
std::optional<History> Simulate(const Program& program, std::uint64_t seed, Fault fault = Fault::kNone);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_SIMULATE_H_
