// CMPL, AGG: buffers read or written after the call that should have completed them.

#include <map>
#include <set>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

constexpr long kLostRequest = 255;
constexpr long kRequestsMax = 10000;
constexpr int kAggregateMax = 64;

// The put as it will be when its turn comes: the source is read then. A value has no source to go back to.
Work BorrowedPut(const Move& move) {
  if (move.form == Form::kValue) return OwnedPut(move);
  return {move.proc, move.blocking, move.handle, [move] { RightPut(move); }};
}

// Non-blocking puts read their source when the next call, of any kind, comes; or when a mutant of that says so.
void BorrowNonblockingPuts(Calls* calls) {
  PrecedeAll<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    if (move.blocking) {
      RunHeld();
      return RightPut(move);
    }
    Hold(BorrowedPut(move));
    return 0;
  });
}

MUTANT(blocking_put_reads_its_source_late, "CMPL-1", "the source of a blocking put is read after the call") {
  PrecedeAll<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    RunHeld();
    Hold(BorrowedPut(move));
    return 0;
  });
}

MUTANT(accumulate_reads_its_source_late, "CMPL-1", "source and scale of a blocking accumulate are read after it") {
  PrecedeAll<RunHeld>(calls);
  RouteAccumulates(calls, [](const Move& move) {
    RunHeld();
    if (!move.blocking) return RightAccumulate(move);
    Hold({move.proc, true, nullptr, [move] { RightAccumulate(move); }});
    return 0;
  });
}

MUTANT(blocking_get_returns_early, "CMPL-2", "the data of a blocking get arrive after the call") {
  PrecedeAll<RunHeld>(calls);
  RouteGets(calls, [](const Move& move) {
    RunHeld();
    Hold({move.proc, move.blocking, move.handle, [move] { RightGet(move); }});
    return 0;
  });
}

MUTANT(wait_is_a_no_op, "CMPL-7", "a wait does not wait: the source of a non-blocking put is read after it") {
  BorrowNonblockingPuts(calls);
  calls->ARMCI_Wait = [](armci_hdl_t*) { return 0; };
}

// Non-blocking gets whose data come with the next call.
void HoldNonblockingGets(Calls* calls) {
  PrecedeAll<RunHeld>(calls);
  RouteGets(calls, [](const Move& move) {
    if (move.blocking) {
      RunHeld();
      return RightGet(move);
    }
    Hold({move.proc, false, move.handle, [move] { RightGet(move); }});
    return 0;
  });
}

MUTANT(wait_returns_before_the_get, "CMPL-3", "a wait returns before the data of the get are there") {
  HoldNonblockingGets(calls);
  calls->ARMCI_Wait = [](armci_hdl_t*) { return 0; };
}

MUTANT(test_says_complete_early, "CMPL-3", "a test answers complete before the data of the get are there") {
  HoldNonblockingGets(calls);
  calls->ARMCI_Test = [](armci_hdl_t*) { return 0; };
}

MUTANT(test_never_says_complete, "CMPL-3", "only a wait completes an operation, tests never do", Hangs{}) {
  calls->ARMCI_Test = [](armci_hdl_t*) -> int { return ARMCI_PENDING; };
}

MUTANT(shape_arrays_are_read_late, "CMPL-3", "the descriptors of a non-blocking vector put are read at the wait") {
  PrecedeAll<RunHeld>(calls);
  calls->ARMCI_NbPutV = [](armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
    Hold({proc, false, hdl, [=] { PARMCI_PutV(iov, len, proc); }});
    return 0;
  };
  calls->ARMCI_NbPutS = PARMCI_NbPutS;
}

MUTANT(waitall_forgets_explicit_operations, "CMPL-4", "the wait for everything leaves out operations with a handle") {
  BorrowNonblockingPuts(calls);
  calls->ARMCI_WaitAll = [] {
    RunHeldIf([](const Work& work) { return work.handle == nullptr; });
    return PARMCI_WaitAll();
  };
}

MUTANT(waitproc_waits_for_another_process, "CMPL-4", "the wait for a process is one for its neighbour") {
  BorrowNonblockingPuts(calls);
  calls->ARMCI_WaitProc = [](int proc) {
    RunHeldTo((proc + 1) % parmci_msg_nproc());
    return PARMCI_WaitProc(proc);
  };
}

MUTANT(wait_completes_the_last_operation_only, "CMPL-5", "of many operations on one handle a wait completes the last") {
  BorrowNonblockingPuts(calls);
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) {
    int count = 0;
    RunHeldIf([&](const Work& work) {
      count += work.handle == hdl;
      return false;
    });
    RunHeldIf([&](const Work& work) { return work.handle == hdl && --count == 0; });
    return PARMCI_Wait(hdl);
  };
}

MUTANT(handle_works_once, "CMPL-5", "a wait on a handle that was waited for before returns at once") {
  static std::set<const armci_hdl_t*> spent;
  BorrowNonblockingPuts(calls);
  calls->ARMCI_INIT_HANDLE = [](armci_hdl_t* hdl) {
    RunHeld();
    spent.erase(hdl);
    PARMCI_INIT_HANDLE(hdl);
  };
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) {
    if (spent.insert(hdl).second) RunHeld();
    return 0;
  };
}

// Non-blocking puts since the last call that completed something.
long outstanding = 0;
void Complete() { outstanding = 0; }

MUTANT(request_255_is_lost, "CMPL-6", "the 255th operation without a wait in between is lost") {
  PrecedeAll<Complete>(calls);
  calls->ARMCI_INIT_HANDLE = PARMCI_INIT_HANDLE;
  calls->ARMCI_NbPut = [](void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
    return ++outstanding == kLostRequest ? 0 : PARMCI_NbPut(src, dst, bytes, proc, hdl);
  };
}

MUTANT(requests_run_out, "CMPL-6", "more than 10,000 operations without a wait are refused") {
  PrecedeAll<Complete>(calls);
  calls->ARMCI_INIT_HANDLE = PARMCI_INIT_HANDLE;
  calls->ARMCI_NbPut = [](void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) -> int {
    return ++outstanding > kRequestsMax ? ARMCI_ERR_MEMORY : PARMCI_NbPut(src, dst, bytes, proc, hdl);
  };
}

MUTANT(free_drops_what_is_outstanding, "CMPL-8", "the free of a region forgets the operations that are on their way") {
  HoldNonblockingGets(calls);
  calls->ARMCI_Barrier = PARMCI_Barrier;
  calls->ARMCI_Free = [](void* ptr) {
    DropHeldIf([](const Work&) { return true; });
    return PARMCI_Free(ptr);
  };
}

// Handles that are set to aggregate, with the number of operations aggregated since the last wait.
std::map<const armci_hdl_t*, int> aggregates;

bool Gathers(const Move& move) { return !move.blocking && aggregates.count(move.handle) != 0; }

// Puts on aggregate handles are held until the next call that is not a put.
void HoldAggregates(Calls* calls) {
  PrecedeAll<RunHeld>(calls);
  calls->ARMCI_SET_AGGREGATE_HANDLE = [](armci_hdl_t* hdl) {
    aggregates[hdl] = 0;
    PARMCI_SET_AGGREGATE_HANDLE(hdl);
  };
  calls->ARMCI_UNSET_AGGREGATE_HANDLE = [](armci_hdl_t* hdl) {
    RunHeld();
    aggregates.erase(hdl);
    PARMCI_UNSET_AGGREGATE_HANDLE(hdl);
  };
  RoutePuts(calls, [](const Move& move) {
    if (!Gathers(move)) {
      RunHeld();
      return RightPut(move);
    }
    Hold(OwnedPut(move));
    return 0;
  });
}

MUTANT(fence_forgets_aggregates, "AGG-3", "a fence does not complete the operations aggregated on a handle") {
  HoldAggregates(calls);
  calls->ARMCI_Fence = PARMCI_Fence;
  calls->ARMCI_Get = PARMCI_Get;
}

MUTANT(unset_discards_what_was_gathered, "AGG-3",
       "a handle that is returned to normal use loses the operations it aggregated") {
  HoldAggregates(calls);
  calls->ARMCI_UNSET_AGGREGATE_HANDLE = [](armci_hdl_t* hdl) {
    DropHeldIf([hdl](const Work& work) { return work.handle == hdl; });
    aggregates.erase(hdl);
    PARMCI_UNSET_AGGREGATE_HANDLE(hdl);
  };
}

MUTANT(aggregate_overflows, "AGG-1", "an aggregate takes 64 operations and loses the next one") {
  HoldAggregates(calls);
  RoutePuts(calls, [](const Move& move) {
    if (!Gathers(move)) {
      RunHeld();
      return RightPut(move);
    }
    if (aggregates[move.handle]++ == kAggregateMax) return 0;
    Hold(OwnedPut(move));
    return 0;
  });
}

MUTANT(aggregate_takes_first_segment_only, "AGG-2", "a vector put through an aggregate handle moves one segment") {
  HoldAggregates(calls);
  RoutePuts(calls, [](const Move& move) {
    Move shortened = move;
    if (Gathers(move) && move.form == Form::kVector && move.pieces.size() > 1) shortened.pieces.resize(1);
    return RightPut(shortened);
  });
}

}  // namespace
}  // namespace conformance::mutants
