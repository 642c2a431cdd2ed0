// Widens the window in which a defect shows, so that a race finds it in a short run.
#ifndef CONFORMANCE_MUTANTS_PAUSE_H_
#define CONFORMANCE_MUTANTS_PAUSE_H_

#include <sched.h>

namespace conformance::mutants {

inline void LetOthersLook() {
  for (int spin = 0; spin < 300; ++spin) __asm__ volatile("");
  sched_yield();
}

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_PAUSE_H_
