// Entry points: read-modify-write, mutexes and notification.
#include "armci.h"
#include "impl/api/entry.h"

namespace armci::runtime::api {
namespace {

// Inlined with a constant operation, so that one instruction remains.
template <class Value, node::RmwOp op>
[[gnu::always_inline]] inline Status classic_rmw(void* ploc, void* prem, int extra, int proc) {
  Value* local = static_cast<Value*>(ploc);
  const Value operand = op == node::RmwOp::kSwap ? *local : static_cast<Value>(extra);
  return runtime().rmw<Value>(op, prem, operand, Value{}, local, proc);
}

[[gnu::always_inline]] inline Status ARMCI_Rmw(int op, void* ploc, void* prem, int extra, int proc) {
  if (ploc == nullptr) [[unlikely]]
    return fail(Code::kNull, "ERR-1", "argument ploc is NULL; pass the address for the fetched value");
  switch (op) {
    case ARMCI_FETCH_AND_ADD:
      return classic_rmw<int, node::RmwOp::kAdd>(ploc, prem, extra, proc);
    case ARMCI_FETCH_AND_ADD_LONG:
      return classic_rmw<long, node::RmwOp::kAdd>(ploc, prem, extra, proc);
    case ARMCI_SWAP:
      return classic_rmw<int, node::RmwOp::kSwap>(ploc, prem, extra, proc);
    case ARMCI_SWAP_LONG:
      return classic_rmw<long, node::RmwOp::kSwap>(ploc, prem, extra, proc);
    default:
      return fail(Code::kType, "ERR-1",
                  "argument op = %d is none of ARMCI_FETCH_AND_ADD(_LONG), ARMCI_SWAP(_LONG); pass one of them", op);
  }
}

Status world_mutexes(SelectedRuntime::MutexSet** set) {
  *set = runtime().world_mutexes.get();
  if (*set != nullptr) [[likely]]
    return kSuccess;
  return fail(Code::kMutex, "MUTEX-8", "there are no mutexes: call ARMCI_Create_mutexes first");
}

Status ARMCI_Create_mutexes(int n) {
  if (runtime().world_mutexes != nullptr) {
    return fail(Code::kMutex, "MUTEX-1", "mutexes exist already: call ARMCI_Destroy_mutexes first");
  }
  return runtime().create_mutexes(groups().world(), n, &runtime().world_mutexes);
}
Status ARMCI_Destroy_mutexes() {
  SelectedRuntime::MutexSet* set = nullptr;
  ARMCI_RETURN_IF_ERROR(world_mutexes(&set));
  return runtime().destroy_mutexes(&runtime().world_mutexes);
}
Status ARMCI_Lock(int mutex, int proc) {
  SelectedRuntime::MutexSet* set = nullptr;
  ARMCI_RETURN_IF_ERROR(world_mutexes(&set));
  return runtime().lock(*set, mutex, proc);
}
Status ARMCI_Unlock(int mutex, int proc) {
  SelectedRuntime::MutexSet* set = nullptr;
  ARMCI_RETURN_IF_ERROR(world_mutexes(&set));
  return runtime().unlock(*set, mutex, proc);
}

Status armci_notify(int proc) { return runtime().notify(proc); }
Status armci_notify_wait(int proc, int* pval) { return runtime().notify_wait(proc, pval); }

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_ATOMIC(ARMCI_DEFINE_ENTRY)
