// The meaning of each call of the interface to the detector of data races: RaceRecord<ApiId::X> takes the arguments of
// X before the call, and records them in done() when it has succeeded. Calls without a row here mean nothing to it.
//
// Included by entry.h only; compiled into the path of observed calls. Thread safety: an object belongs to one call.
#pragma once

#include "armcix.h"
#include "impl/api/api_id.h"
#include "impl/api/race_order.h"
#include "impl/api/race_transfers.h"
#include "impl/api/race_words.h"
#include "impl/base/backtrace.h"

namespace armci::runtime {

struct NothingToRecord {
  template <class... Arguments>
  explicit NothingToRecord(Arguments&&...) {}
  template <class Outcome>
  void done(race::Recorder::Call&, const Outcome&) {}
};

template <ApiId>
struct RaceRecord : NothingToRecord {
  using NothingToRecord::NothingToRecord;
};

// Rows of calls with one form: the name, the record.
#define ARMCI_RACE_RECORD(name, ...)             \
  template <>                                    \
  struct RaceRecord<ApiId::name> : __VA_ARGS__ { \
    using Base = __VA_ARGS__;                    \
    using Base::Base;                            \
  };

#define ARMCI_RACE_TRANSFER(name, kind)                                                                              \
  ARMCI_RACE_RECORD(ARMCI_##name, recorded::Contiguous<kind, recorded::Completes::kAtReturn>)                        \
  ARMCI_RACE_RECORD(ARMCI_Nb##name, recorded::Contiguous<kind, recorded::Completes::kLater>)                         \
  ARMCI_RACE_RECORD(ARMCIX_##name, recorded::Contiguous<kind, recorded::Completes::kAtReturn>)                       \
  ARMCI_RACE_RECORD(ARMCIX_Nb##name, recorded::Contiguous<kind, recorded::Completes::kLater>)                        \
  ARMCI_RACE_RECORD(ARMCI_##name##S, recorded::StridedTransfer<kind, recorded::Completes::kAtReturn, int, int>)      \
  ARMCI_RACE_RECORD(ARMCI_Nb##name##S, recorded::StridedTransfer<kind, recorded::Completes::kLater, int, int>)       \
  ARMCI_RACE_RECORD(ARMCIX_##name##S,                                                                                \
                    recorded::StridedTransfer<kind, recorded::Completes::kAtReturn, std::ptrdiff_t, std::size_t>)    \
  ARMCI_RACE_RECORD(ARMCIX_Nb##name##S,                                                                              \
                    recorded::StridedTransfer<kind, recorded::Completes::kLater, std::ptrdiff_t, std::size_t>)       \
  ARMCI_RACE_RECORD(ARMCI_##name##V, recorded::VectorTransfer<kind, recorded::Completes::kAtReturn, armci_giov_t>)   \
  ARMCI_RACE_RECORD(ARMCI_Nb##name##V, recorded::VectorTransfer<kind, recorded::Completes::kLater, armci_giov_t>)    \
  ARMCI_RACE_RECORD(ARMCIX_##name##V, recorded::VectorTransfer<kind, recorded::Completes::kAtReturn, armcix_giov_t>) \
  ARMCI_RACE_RECORD(ARMCIX_Nb##name##V, recorded::VectorTransfer<kind, recorded::Completes::kLater, armcix_giov_t>)

ARMCI_RACE_TRANSFER(Put, Kind::kPut)
ARMCI_RACE_TRANSFER(Get, Kind::kGet)
ARMCI_RACE_TRANSFER(Acc, Kind::kAcc)

#define ARMCI_RACE_VALUE(name, type)                                                                \
  ARMCI_RACE_RECORD(ARMCI_PutValue##name, recorded::PutValue<type, recorded::Completes::kAtReturn>) \
  ARMCI_RACE_RECORD(ARMCI_NbPutValue##name, recorded::PutValue<type, recorded::Completes::kLater>)  \
  ARMCI_RACE_RECORD(ARMCI_GetValue##name, recorded::GetValue<type>)

ARMCI_RACE_VALUE(Int, int)
ARMCI_RACE_VALUE(Long, long)
ARMCI_RACE_VALUE(Float, float)
ARMCI_RACE_VALUE(Double, double)

ARMCI_RACE_RECORD(ARMCI_Copy, recorded::Copy)
ARMCI_RACE_RECORD(ARMCI_Put_flag, recorded::PutFlag)
ARMCI_RACE_RECORD(ARMCI_PutS_flag, recorded::PutStridedFlag)
ARMCI_RACE_RECORD(ARMCIX_Put_signal, recorded::PutSignal<recorded::Completes::kAtReturn>)
ARMCI_RACE_RECORD(ARMCIX_NbPut_signal, recorded::PutSignal<recorded::Completes::kLater>)
ARMCI_RACE_RECORD(ARMCIX_Signal_wait, recorded::SignalWait)
ARMCI_RACE_RECORD(ARMCIX_Signal_test, recorded::SignalTest)
ARMCI_RACE_RECORD(ARMCIX_Signal_wait_all, recorded::SignalWaits)
ARMCI_RACE_RECORD(ARMCIX_Signal_wait_any, recorded::SignalWaits)
ARMCI_RACE_RECORD(ARMCIX_Signal_wait_some, recorded::SignalWaits)
ARMCI_RACE_RECORD(ARMCI_Rmw, recorded::ClassicRmw)
ARMCI_RACE_RECORD(ARMCIX_Rmw, recorded::ExtendedRmw)
ARMCI_RACE_RECORD(ARMCIX_NbRmw, recorded::NbRmw)

ARMCI_RACE_RECORD(ARMCI_Wait, recorded::Wait)
ARMCI_RACE_RECORD(ARMCI_Test, recorded::Test)
ARMCI_RACE_RECORD(ARMCI_WaitProc, recorded::WaitFor)
ARMCI_RACE_RECORD(ARMCI_WaitAll, recorded::WaitFor)
ARMCI_RACE_RECORD(ARMCI_Fence, recorded::Fence)
ARMCI_RACE_RECORD(ARMCI_AllFence, recorded::Fence)
ARMCI_RACE_RECORD(ARMCI_Barrier, recorded::Fence)
ARMCI_RACE_RECORD(ARMCI_GroupFence, recorded::GroupFence)
ARMCI_RACE_RECORD(armci_notify, recorded::Notify)
ARMCI_RACE_RECORD(armci_notify_wait, recorded::NotifyWait)
ARMCI_RACE_RECORD(ARMCI_Lock, recorded::Lock)
ARMCI_RACE_RECORD(ARMCI_Unlock, recorded::Unlock)
ARMCI_RACE_RECORD(armci_msg_snd, recorded::Send)
ARMCI_RACE_RECORD(armci_msg_rcv, recorded::Receive)
ARMCI_RACE_RECORD(armci_msg_rcvany, recorded::Receive)

// Rows of collective calls: the name, the parameters, and the members with the root if there is one.
#define ARMCI_RACE_COLLECTIVE(name, parameters, ...)                      \
  template <>                                                             \
  struct RaceRecord<ApiId::name> : recorded::Collective {                 \
    explicit RaceRecord parameters : recorded::Collective(__VA_ARGS__) {} \
  };

namespace recorded {

inline const std::vector<int>& everyone() { return groups().world().members(); }
// A call that moves nothing synchronises nothing.
inline std::vector<int> if_moved(long count, std::vector<int> members) {
  return count > 0 ? std::move(members) : std::vector<int>();
}
inline std::vector<int> in_scope(int scope) { return members_in(groups().world(), scope); }
inline int first_of(const std::vector<int>& members) { return members.empty() ? kEveryone : members.front(); }

}  // namespace recorded

ARMCI_RACE_COLLECTIVE(ARMCI_Malloc, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(ARMCI_Free, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(ARMCI_Malloc_memdev, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(ARMCI_Free_memdev, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(ARMCI_Malloc_group, (void*[], armci_size_t, ARMCI_Group* group), recorded::members_of(group))
ARMCI_RACE_COLLECTIVE(ARMCI_Free_group, (void*, ARMCI_Group* group), recorded::members_of(group))
ARMCI_RACE_COLLECTIVE(ARMCI_Malloc_group_memdev, (void*[], armci_size_t, ARMCI_Group* group, const char*),
                      recorded::members_of(group))

ARMCI_RACE_COLLECTIVE(armci_msg_barrier, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(armci_msg_group_barrier, (ARMCI_Group * group), recorded::members_of(group))
ARMCI_RACE_COLLECTIVE(armci_exchange_address, (auto&&...), recorded::everyone())
ARMCI_RACE_COLLECTIVE(armci_exchange_address_grp, (void*[], int, ARMCI_Group* group), recorded::members_of(group))
ARMCI_RACE_COLLECTIVE(armci_msg_bcast, (void* x, int n, int root), recorded::if_moved(n, recorded::everyone()), root,
                      true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_brdcst, (void* x, int n, int root), recorded::if_moved(n, recorded::everyone()), root,
                      true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_bcast_scope, (int scope, void* x, int n, int root),
                      recorded::if_moved(n, recorded::in_scope(scope)), root, true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_group_bcast_scope, (int scope, void* x, int n, int root, ARMCI_Group* group),
                      recorded::if_moved(n, recorded::members_in(group, scope)), root, true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_clus_brdcst, (void* x, int n), recorded::if_moved(n, recorded::in_scope(SCOPE_NODE)),
                      recorded::first_of(recorded::in_scope(SCOPE_NODE)), true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_reduce, (void* x, int n, const char*, int type),
                      recorded::if_moved(n, recorded::everyone()), recorded::first_of(recorded::everyone()), false,
                      recorded::elements(x, n, type))
ARMCI_RACE_COLLECTIVE(armci_msg_reduce_scope, (int scope, void* x, int n, const char*, int type),
                      recorded::if_moved(n, recorded::in_scope(scope)), recorded::first_of(recorded::in_scope(scope)),
                      false, recorded::elements(x, n, type))
ARMCI_RACE_COLLECTIVE(armci_msg_sel, (void* x, int n, auto&&...), recorded::if_moved(n, recorded::everyone()),
                      recorded::kEveryone, true, recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_sel_scope, (int scope, void* x, int n, auto&&...),
                      recorded::if_moved(n, recorded::in_scope(scope)), recorded::kEveryone, true,
                      recorded::bytes(x, n))
ARMCI_RACE_COLLECTIVE(armci_msg_gop_scope, (int scope, void* x, int n, const char*, int type),
                      recorded::if_moved(n, recorded::in_scope(scope)), recorded::kEveryone, true,
                      recorded::elements(x, n, type))
ARMCI_RACE_COLLECTIVE(armci_msg_group_gop_scope, (int scope, void* x, int n, const char*, int type, ARMCI_Group* group),
                      recorded::if_moved(n, recorded::members_in(group, scope)), recorded::kEveryone, true,
                      recorded::elements(x, n, type))

#define ARMCI_RACE_REDUCTION(letters)                                                                      \
  ARMCI_RACE_COLLECTIVE(armci_msg_##letters##gop, (auto* x, int n, const char*),                           \
                        recorded::if_moved(n, recorded::everyone()), recorded::kEveryone, true,            \
                        recorded::values(x, n))                                                            \
  ARMCI_RACE_COLLECTIVE(armci_msg_group_##letters##gop, (auto* x, int n, const char*, ARMCI_Group* group), \
                        recorded::if_moved(n, recorded::members_of(group)), recorded::kEveryone, true,     \
                        recorded::values(x, n))                                                            \
  ARMCI_RACE_COLLECTIVE(armci_msg_clus_##letters##gop, (auto* x, int n, const char*),                      \
                        recorded::if_moved(n, recorded::in_scope(SCOPE_NODE)), recorded::kEveryone, true,  \
                        recorded::values(x, n))

ARMCI_RACE_REDUCTION(i)
ARMCI_RACE_REDUCTION(l)
ARMCI_RACE_REDUCTION(ll)
ARMCI_RACE_REDUCTION(f)
ARMCI_RACE_REDUCTION(d)

template <class Outcome>
bool has_succeeded(const Outcome& outcome) {
  if constexpr (std::is_same_v<Outcome, Status>) {
    return outcome.ok();
  } else if constexpr (requires { outcome.status; }) {
    return outcome.status.ok();
  } else {
    return true;
  }
}

// The end of a call between two barriers of the program: what was recorded is analysed.
template <ApiId id>
void analyse_after() {
  Status status;
  if constexpr (id == ApiId::ARMCI_Barrier) status = race_detection().analyse();
  if constexpr (id == ApiId::armci_msg_barrier) status = race_detection().analyse_if_complete();
  if (!status.ok()) die_of_failure("looking for data races");
}

// Executes a call, and records it. `make`: makes the RaceRecord of its arguments; `caller`: the address behind the
// call.
template <ApiId id, class Make, class Body>
auto call_recorded(const void* caller, Make make, Body body) {
  if constexpr (std::is_base_of_v<NothingToRecord, RaceRecord<id>>) {
    return body();
  } else {
    if (!race_detection().is_on()) return body();
    auto record = make();
    const auto outcome = body();
    if (has_succeeded(outcome)) {
      race::Recorder::Call call(race_detection().recorder(), race_detection().caller(caller, id));
      record.done(call, outcome);
    }
    analyse_after<id>();
    return outcome;
  }
}

}  // namespace armci::runtime
