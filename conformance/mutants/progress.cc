// PROG, FENCE-3, MUTEX-5: operations that need the process whose memory they work on.

#include <sched.h>

#include <vector>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "conformance/mutants/shared_words.h"

namespace conformance::mutants {
namespace {

// Shared words of each process: how many calls it is inside of, and how many it has begun.
constexpr int kInside = 0;
constexpr int kBegun = 8;

void Enter() {
  if (!HaveSharedWords()) return;
  ++SharedWord(parmci_msg_me(), kInside);
  ++SharedWord(parmci_msg_me(), kBegun);
}

void Leave() {
  if (HaveSharedWords()) --SharedWord(parmci_msg_me(), kInside);
}

template <auto Member>
struct Attended;
template <typename R, typename... A, R (*Calls::*Member)(A...)>
struct Attended<Member> {
  static R Call(A... arguments) {
    struct Guard {
      Guard() { Enter(); }
      ~Guard() { Leave(); }
    } guard;
    return (Right().*Member)(arguments...);
  }
};

// Has every call tell the others that this process is inside the library.
void AttendAll(Calls* calls) {
#define MUTANTS_ATTEND(type, strong, weak, parameters, arguments) calls->weak = Attended<&Calls::weak>::Call;
  ARMCI_API_ALL(MUTANTS_ATTEND)
#undef MUTANTS_ATTEND
  // Before init, after finalize and outside: as in the right library.
  const Calls& right = Right();
  calls->ARMCI_Initialized = right.ARMCI_Initialized;
  calls->ARMCI_Finalize = right.ARMCI_Finalize;
  ProvideSharedWords(calls);
}

// Returns once `proc` is inside the library, or has been since the call; being here counts as inside.
void AwaitAttention(int proc) {
  if (!HaveSharedWords() || proc < 0 || proc >= parmci_msg_nproc() || proc == parmci_msg_me()) return;
  const long begun = SharedWord(proc, kBegun).load();
  Enter();
  while (SharedWord(proc, kInside).load() == 0 && SharedWord(proc, kBegun).load() == begun) sched_yield();
  Leave();
}

MUTANT(put_needs_the_target, "PROG-1", "a put moves only while its target is inside the library", Hangs{},
       Tests{"PROG1_put_and_fence"}) {
  AttendAll(calls);
  RoutePuts(calls, [](const Move& move) {
    AwaitAttention(move.proc);
    return RightPut(move);
  });
}

MUTANT(get_needs_the_target, "PROG-1", "a get moves only while its target is inside the library", Hangs{},
       Tests{"PROG1_get"}) {
  AttendAll(calls);
  RouteGets(calls, [](const Move& move) {
    AwaitAttention(move.proc);
    return RightGet(move);
  });
}

MUTANT(accumulate_needs_the_target, "PROG-1", "an accumulate is done by its target, when that calls", Hangs{},
       Tests{"PROG1_accumulate"}) {
  AttendAll(calls);
  RouteAccumulates(calls, [](const Move& move) {
    AwaitAttention(move.proc);
    return RightAccumulate(move);
  });
}

MUTANT(rmw_needs_the_target, "PROG-1", "a read-modify-write is done by its target, when that calls", Hangs{},
       Tests{"PROG1_rmw"}) {
  AttendAll(calls);
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    AwaitAttention(proc);
    return PARMCI_Rmw(op, ploc, prem, extra, proc);
  };
}

MUTANT(put_deadlocks_with_a_process_inside_mpi, "INIT-4", "a put moves only while its target is inside the library",
       Hangs{}, Tests{"INIT4_blocking_calls"}) {
  AttendAll(calls);
  RoutePuts(calls, [](const Move& move) {
    AwaitAttention(move.proc);
    return RightPut(move);
  });
}

// Returns once some process but the caller is, or has been, inside the library.
void AwaitAnyAttention() {
  if (!HaveSharedWords()) return;
  const int ranks = parmci_msg_nproc();
  const int me = parmci_msg_me();
  std::vector<long> begun;
  for (int p = 0; p < ranks; ++p) begun.push_back(SharedWord(p, kBegun).load());
  Enter();
  for (bool found = ranks == 1; !found; sched_yield()) {
    for (int p = 0; p < ranks; ++p) {
      if (p == me) continue;
      found |= SharedWord(p, kInside).load() != 0 || SharedWord(p, kBegun).load() != begun[static_cast<std::size_t>(p)];
    }
  }
  Leave();
}

MUTANT(get_needs_one_of_the_others, "PROG-2", "a get is served by any process of the node that happens to call",
       Hangs{}, Ranks{3}, Tests{"PROG1_get"}) {
  AttendAll(calls);
  RouteGets(calls, [](const Move& move) {
    AwaitAnyAttention();
    return RightGet(move);
  });
}

MUTANT(rmw_needs_one_of_the_others, "PROG-2", "a read-modify-write is done by any other process, when one calls",
       Hangs{}, Ranks{3}, Tests{"PROG1_rmw_while_the_target_sits"}) {
  AttendAll(calls);
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    AwaitAnyAttention();
    return PARMCI_Rmw(op, ploc, prem, extra, proc);
  };
}

MUTANT(lock_needs_the_host, "MUTEX-5", "a lock is granted by the host of the mutex, when that calls", Hangs{}) {
  AttendAll(calls);
  calls->ARMCI_Lock = [](int mutex, int proc) {
    AwaitAttention(proc);
    PARMCI_Lock(mutex, proc);
  };
}

MUTANT(fence_needs_the_target, "FENCE-3", "a fence is answered by its target, when that calls", Hangs{}) {
  AttendAll(calls);
  calls->ARMCI_Fence = [](int proc) {
    AwaitAttention(proc);
    PARMCI_Fence(proc);
  };
}

MUTANT(nonblocking_put_moves_in_calls_only, "PROG-3", "a non-blocking put moves when its origin calls again", Hangs{}) {
  PrecedeAll<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    RunHeld();
    if (move.blocking) return RightPut(move);
    Hold(OwnedPut(move));
    return 0;
  });
}

MUTANT(stores_need_polling, "PROG-4",
       "stores leave when the origin polls or meets the others, a fence alone is no help", Tests{"PROG4_polling"}) {
  HoldStores(calls);
  calls->ARMCI_Fence = PARMCI_Fence;
  calls->ARMCI_Get = PARMCI_Get;
}

// While one of these lives in a thread, what polls MPI there does nothing.
thread_local bool leaves_mpi_alone = false;
struct MpiLeftAlone {
  MpiLeftAlone() { leaves_mpi_alone = true; }
  ~MpiLeftAlone() { leaves_mpi_alone = false; }
};

MUTANT(barrier_leaves_mpi_alone, "PROG-5", "a process that waits in a barrier makes no call of MPI", Hangs{},
       Tests{"PROG5_barrier_during"}) {
  calls->ARMCI_Barrier = [] {
    MpiLeftAlone here;
    PARMCI_Barrier();
  };
}

MUTANT(lock_leaves_mpi_alone, "PROG-5", "a process that waits for a mutex makes no call of MPI", Hangs{},
       Tests{"PROG5_lock_of"}) {
  calls->ARMCI_Lock = [](int mutex, int proc) {
    MpiLeftAlone here;
    PARMCI_Lock(mutex, proc);
  };
}

MUTANT(notify_wait_leaves_mpi_alone, "PROG-5", "a process that waits for a notification makes no call of MPI", Hangs{},
       Tests{"PROG5_notify_wait"}) {
  calls->armci_notify_wait = [](int proc, int* count) {
    MpiLeftAlone here;
    return parmci_notify_wait(proc, count);
  };
}

MUTANT(allocation_leaves_mpi_alone, "PROG-5", "a process that waits in ARMCI_Malloc makes no call of MPI", Hangs{},
       Tests{"PROG5_malloc_during"}) {
  calls->ARMCI_Malloc = [](void** base, armci_size_t bytes) {
    MpiLeftAlone here;
    return PARMCI_Malloc(base, bytes);
  };
}

MUTANT(poll_leaves_mpi_alone, "PROG-5", "ARMCI_Poll makes no call of MPI", Hangs{}, Tests{"PROG5_loop_of_polls"}) {
  calls->ARMCI_Poll = [] {};
}

}  // namespace
}  // namespace conformance::mutants

// The call by which the library polls MPI, before the one of the MPI library. The suite itself does not call it.
extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  if (!conformance::mutants::leaves_mpi_alone) return PMPI_Iprobe(source, tag, comm, found, status);
  *found = 0;
  return MPI_SUCCESS;
}
