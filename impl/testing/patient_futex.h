// The four calls of impl/node/futex.cc for tests that look for lost wake-ups. The library's waits end by themselves
// after kLivenessPeriodUs, to look for processes that died; a wake-up that never came would only cost time there. Here
// such a wait lasts until somebody wakes it, or for kPatienceSeconds, which no correct program needs: it is then
// counted.
//
// Linking this library replaces the calls; waits with any other time limit are as usual.
#pragma once

namespace armci::node {

inline constexpr int kPatienceSeconds = 20;

// Waits of this process that nobody ended.
int lost_wakeups();

}  // namespace armci::node
