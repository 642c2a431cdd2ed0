// Work that a library has accepted and not yet done: what makes a missing fence or wait visible over an implementation
// that completes everything at once.
//
// Held work is done in order, by the next call of the same process that is not one of those a mutant exempts. That
// alone is legal: HoldStores is a correct, lazy library, and the suite must pass on it. A mutant then leaves out one of
// the occasions on which the work has to be done.
#ifndef CONFORMANCE_MUTANTS_HELD_H_
#define CONFORMANCE_MUTANTS_HELD_H_

#include <functional>

#include "conformance/mutants/calls.h"
#include "conformance/mutants/pieces.h"

namespace conformance::mutants {

struct Work {
  int proc;
  bool blocking;              // issued by a blocking call
  const armci_hdl_t* handle;  // of a non-blocking call, NULL if implicit
  std::function<void()> run;
};

// Puts it behind what is held already.
void Hold(Work work);
// Does and forgets what is held, in order; in the second form only what `which` chooses.
void RunHeld();
void RunHeldIf(const std::function<bool(const Work&)>& which);
void RunHeldTo(int proc);
// Forgets it without doing it.
void DropHeldIf(const std::function<bool(const Work&)>& which);

// Has every call preceded by `first`, except those that concern local completion: work that owns its data has nothing
// to do with them.
template <void (*first)()>
void PrecedeRemoteCalls(Calls* calls) {
  PrecedeAll<first>(calls);
  const Calls& right = Right();
  calls->ARMCI_INIT_HANDLE = right.ARMCI_INIT_HANDLE;
  calls->ARMCI_SET_AGGREGATE_HANDLE = right.ARMCI_SET_AGGREGATE_HANDLE;
  calls->ARMCI_UNSET_AGGREGATE_HANDLE = right.ARMCI_UNSET_AGGREGATE_HANDLE;
  calls->ARMCI_Wait = right.ARMCI_Wait;
  calls->ARMCI_WaitAll = right.ARMCI_WaitAll;
  calls->ARMCI_WaitProc = right.ARMCI_WaitProc;
  calls->ARMCI_Test = right.ARMCI_Test;
  calls->armci_domain_same_id = right.armci_domain_same_id;
}
// Every put copies its data and is held until the next call that is neither a put nor a wait.
void HoldStores(Calls* calls);
// A copy of the put that owns its data, as work.
Work OwnedPut(const Move& move);

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_HELD_H_
