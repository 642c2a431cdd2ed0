// Entry points: completion, fences and the barrier.
#include "armci.h"
#include "impl/api/entry.h"

namespace armci::runtime::api {
namespace {

Status check_handle(const armci_hdl_t* hdl) {
  return hdl != nullptr ? kSuccess
                        : fail(Code::kNull, "ERR-1", "argument hdl is NULL; pass the handle of the operation");
}

Status set_aggregate(armci_hdl_t* hdl, bool aggregate) {
  ARMCI_RETURN_IF_ERROR(check_handle(hdl));
  HandleBits bits = read_handle(hdl);
  bits.aggregate = aggregate ? 1 : 0;
  write_handle(hdl, bits);
  return kSuccess;
}

Status ARMCI_INIT_HANDLE(armci_hdl_t* hdl) {
  ARMCI_RETURN_IF_ERROR(check_handle(hdl));
  write_handle(hdl, HandleBits{});
  return kSuccess;
}
Status ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* hdl) { return set_aggregate(hdl, true); }
Status ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* hdl) {
  ARMCI_RETURN_IF_ERROR(set_aggregate(hdl, false));
  return runtime().flush_batch(read_handle(hdl));
}

// NULL: the implicit operations.
Status ARMCI_Wait(armci_hdl_t* hdl) { return runtime().wait(hdl); }
Valued<int> ARMCI_Test(armci_hdl_t* hdl) {
  bool done = false;
  Status status = check_handle(hdl);
  if (status.ok()) status = runtime().test(hdl, &done);
  return {status, status.ok() ? (done ? 0 : ARMCI_PENDING) : status.value()};
}
Status ARMCI_WaitProc(int proc) { return runtime().wait_proc(proc); }
Status ARMCI_WaitAll() { return runtime().wait_all(); }

[[gnu::always_inline]] inline Status ARMCI_Fence(int proc) { return runtime().fence(proc); }
Status ARMCI_AllFence() { return runtime().fence_all(); }
Status ARMCI_GroupFence(ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  return runtime().fence_group(*group);
}
Status ARMCI_Barrier() { return runtime().barrier(groups().world()); }
void ARMCI_Poll() { runtime().poll(); }

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_COMPLETE(ARMCI_DEFINE_ENTRY)
