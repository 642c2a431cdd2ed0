// Counts the messages that this process sends by the layer below the library: calls of its send, put, get and atomic
// functions, which the test program defines in front of the layer's own.
//
// Thread safety: by any thread.
#pragma once

#include <cstdint>

namespace armci::runtime::testing {

std::uint64_t sent_messages();

// The way that data and signals of a port take.
enum class Way {
  kRequests,  // all are requests to a server
  kOnDemand,  // the same, and a fence requests the count of signals
  kWindows,   // puts and gets are operations of the layer below. Signals are messages behind them, which a fence has
              // acknowledged by two messages more
  kDevice,    // puts and gets are operations of a device; all else is a request, and has a reply
};
Way way();

}  // namespace armci::runtime::testing
