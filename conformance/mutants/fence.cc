// FENCE: stores that are still on the way when a fence or a barrier has returned.

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

MUTANT(stores_are_held, "FENCE-1", "stores leave with the next call that is not a store; fences and reads see to it",
       Legal{}, Tests{"^(FENCE|ORD|CMPL|AGG|LC|MUTEX|RMW|ACC)\\."}) {
  HoldStores(calls);
}

MUTANT(fence_is_a_no_op, "FENCE-1", "stores are on the way for a while, and the fence does not wait for them") {
  HoldStores(calls);
  calls->ARMCI_Fence = [](int) {};
}

MUTANT(fence_is_no_memory_barrier, "FENCE-1", "the fence waits for the stores but does not order them before reads",
       Tests{"FENCE1_store_buffering"}) {
  calls->ARMCI_Fence = [](int) {};
}

MUTANT(fence_forgets_nonblocking_stores, "FENCE-1", "the fence covers blocking stores and waited-for ones only") {
  HoldStores(calls);
  calls->ARMCI_Fence = [](int proc) {
    RunHeldIf([proc](const Work& work) { return work.proc == proc && work.blocking; });
    PARMCI_Fence(proc);
  };
}

MUTANT(allfence_forgets_one_target, "FENCE-2", "the fence for all targets leaves out the last one") {
  HoldStores(calls);
  calls->ARMCI_AllFence = [] {
    const int last = parmci_msg_nproc() - 1;
    RunHeldIf([last](const Work& work) { return work.proc != last; });
    PARMCI_AllFence();
  };
}

MUTANT(barrier_without_fence, "FENCE-4", "the barrier holds the processes back, but not for their stores") {
  HoldStores(calls);
  calls->ARMCI_Barrier = PARMCI_Barrier;
}

MUTANT(group_fence_is_a_no_op, "FENCE-5", "the fence for a group does not wait for the stores to its members",
       Ranks{3}) {
  HoldStores(calls);
  calls->ARMCI_GroupFence = [](ARMCI_Group*) {};
  calls->armci_msg_group_barrier = parmci_msg_group_barrier;
}

MUTANT(group_barrier_lets_everyone_pass, "FENCE-5", "the barrier of a group does not wait for its members", Ranks{3}) {
  calls->armci_msg_group_barrier = [](ARMCI_Group*) {};
}

}  // namespace
}  // namespace conformance::mutants
