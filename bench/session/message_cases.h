// Transfers against messages that a program sends and receives by itself, over any raw layer.
//
// The memory of the target is written and read; while ARMCI is measured the target sleeps, while messages are, it is
// inside the raw layer. bench/micro/messages.cc lists the cases.
//
// Thread safety: one caller.
#ifndef ARMCI_BENCH_SESSION_MESSAGE_CASES_H_
#define ARMCI_BENCH_SESSION_MESSAGE_CASES_H_

#include <functional>
#include <string>

#include "bench/session/session.h"

namespace armci::bench {

inline constexpr size_t kMessagesMost = size_t{8} << 20;  // bytes of the longest window

// Messages between rank 0 and the target. All members are called there; times are in seconds.
struct RawMessages {
  std::string name;                                         // of the calls
  std::string key;                                          // of the rows in the table of targets
  std::function<double(int back, long count)> round_trips;  // of 8 bytes there and `back` bytes back
  std::function<double(bool to_target, int bytes, int window, long count)> windows;
  std::function<void()> look;  // by the target, while it sleeps
};

// Collective. Latencies, and windows of operations with the end of all of them.
void RunMessageCases(Session* session, const RawMessages& raw, int target);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_MESSAGE_CASES_H_
