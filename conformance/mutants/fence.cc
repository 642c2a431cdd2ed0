// FENCE: stores that are still on the way when a fence or a barrier has returned.

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"
#include "conformance/mutants/regions.h"
#include "conformance/mutants/shared_words.h"
#include "mpi.h"

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

MUTANT(fence_to_oneself_is_left_out, "FENCE-6", "stores to the origin's own memory are fenced by no fence to it") {
  HoldStores(calls);
  calls->ARMCI_Fence = [](int proc) {
    if (proc == parmci_msg_me()) return;
    RunHeld();
    PARMCI_Fence(proc);
  };
}

MUTANT(allfence_meets_the_others, "FENCE-6", "a fence of everything returns when all processes call one", Hangs{}) {
  calls->ARMCI_AllFence = [] {
    PARMCI_AllFence();
    MPI_Barrier(MPI_COMM_WORLD);
  };
}

MUTANT(fence_awaits_a_second_process, "FENCE-6", "in a job of one process a fence waits for an answer", Hangs{},
       Ranks{1}) {
  calls->ARMCI_Fence = [](int proc) {
    while (parmci_msg_nproc() == 1) LetOthersLook();
    PARMCI_Fence(proc);
  };
}

// Shared words of a process: the place of the element that it is storing, and the value.
constexpr int kPlace = 16;
constexpr int kValue = 24;

// The same on all processes, 0 for none.
long PlaceOf(int proc, const void* address) {
  const KnownRegion* region = FindRegion(proc, address);
  if (region == nullptr) return 0;
  const long offset = static_cast<const char*>(address) - region->parts[static_cast<std::size_t>(proc)];
  return ((long{IndexOf(region)} << 8 | proc) << 32 | offset) + 1;
}

// A store of an element is seen by one process, that many after its origin, before it is seen by the others. Each fence
// waits for the stores of its origin alone.
template <int distance>
void ShowEarly(Calls* calls) {
  ProvideSharedWords(calls);
  RememberRegions(calls);
  RoutePuts(calls, [](const Move& move) {
    const long place = HaveSharedWords() && move.TotalBytes() == 8 ? PlaceOf(move.proc, move.pieces[0].dst) : 0;
    if (place == 0 || move.pieces.size() != 1) return RightPut(move);
    SharedWord(parmci_msg_me(), kValue) = *reinterpret_cast<const long*>(move.pieces[0].src);
    SharedWord(parmci_msg_me(), kPlace) = place;
    for (int i = 0; i < 5; ++i) LetOthersLook();
    const int code = RightPut(move);
    SharedWord(parmci_msg_me(), kPlace) = 0;
    return code;
  });
  calls->ARMCI_GetValueLong = [](void* src, int proc) {
    const int writer = parmci_msg_me() - distance;
    const long place = HaveSharedWords() && writer >= 0 ? PlaceOf(proc, src) : 0;
    if (place != 0 && SharedWord(writer, kPlace) == place) {
      const long value = SharedWord(writer, kValue);
      if (SharedWord(writer, kPlace) == place) return value;
    }
    return PARMCI_GetValueLong(src, proc);
  };
}

MUTANT(allfence_leaves_out_what_the_caller_read, "FENCE-8", "a relay reads a store that others do not see, and fences",
       Ranks{3}, Tests{"FENCE8_a_relay"}) {
  ShowEarly<1>(calls);
}

MUTANT(readers_see_their_neighbours_first, "FENCE-8", "two readers see two stores in opposite orders, fenced or not",
       Ranks{4}, Tests{"FENCE8_independent_readers"}) {
  ShowEarly<2>(calls);
}

}  // namespace
}  // namespace conformance::mutants
