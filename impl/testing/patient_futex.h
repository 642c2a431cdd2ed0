// The four calls of impl/node/futex.cc for tests that detect lost wake-ups. The library's waits end after
// kLivenessPeriodUs, to check for processes that died, so a lost wake-up only costs time there. With this library such
// a wait lasts until another thread wakes it, or for kPatienceSeconds, which no correct program needs. The wait is then
// counted as lost.
//
// Linking this library replaces the calls; waits with any other time limit are as usual.
#pragma once

namespace armci::node {

inline constexpr int kPatienceSeconds = 20;

// The number of waits of this process that no wake-up ended.
int lost_wakeups();

}  // namespace armci::node
