// The binary interface [ABI-1]: sizes, field orders and values of the public headers, the same for C and C++ and with
// every MPI library; and every call has a profiling twin of the same type [PROF-1].
//
// Nearly all of it is checked by the compiler. At run time the C side (abi_c90.c) reports what it sees, so that the two
// languages are compared in one program. The program links without the library: it defines what headers refer to.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "armci.h"
#include "armci_message.h"
#include "armcix.h"
#include "message.h"
#include "parmci.h"
#include "spec/abi_c90.h"

extern "C" const int armci_abi_version_1 = 1;

// Handles and groups live in programs that were compiled against other headers of this interface: they must not grow.
static_assert(sizeof(armci_hdl_t) == 8 && alignof(armci_hdl_t) == alignof(int));
static_assert(sizeof(ARMCI_Group) == 32 && offsetof(ARMCI_Group, comm) == 0);
static_assert(std::is_same_v<decltype(ARMCI_Group::comm), MPI_Comm>);

static_assert(sizeof(armci_giov_t) == 24);
static_assert(offsetof(armci_giov_t, src_ptr_array) == 0);
static_assert(offsetof(armci_giov_t, dst_ptr_array) == 8);
static_assert(offsetof(armci_giov_t, bytes) == 16);
static_assert(offsetof(armci_giov_t, ptr_array_len) == 20);

static_assert(sizeof(armcix_giov_t) == 32);
static_assert(offsetof(armcix_giov_t, src_ptr_array) == 0);
static_assert(offsetof(armcix_giov_t, dst_ptr_array) == 8);
static_assert(offsetof(armcix_giov_t, bytes) == 16);
static_assert(offsetof(armcix_giov_t, ptr_array_len) == 24);

static_assert(sizeof(armci_meminfo_t) == 544);
static_assert(offsetof(armci_meminfo_t, armci_addr) == 0);
static_assert(offsetof(armci_meminfo_t, addr) == 8);
static_assert(offsetof(armci_meminfo_t, size) == 16);
static_assert(offsetof(armci_meminfo_t, cpid) == 24);
static_assert(offsetof(armci_meminfo_t, idlist) == 32);

static_assert(sizeof(armcix_stats_t) == 160 && offsetof(armcix_stats_t, struct_bytes) == 0);
static_assert(sizeof(armcix_call_stats_t) == 24 + 48 * 8);
static_assert(sizeof(armcix_setting_t) == 6 * sizeof(char *));
static_assert(sizeof(armcix_finding_t) == 3 * sizeof(char *));
static_assert(sizeof(armcix_choice_t) == 2 * sizeof(char *));
static_assert(sizeof(armcix_mutex_hdl_t) == sizeof(void *));

static_assert(std::is_same_v<armci_size_t, long>);
static_assert(std::is_same_v<armci_long_long_t, long long>);
static_assert(sizeof(armci_domain_t) == sizeof(int));
static_assert(ARMCI_MAX_STRIDE_LEVEL == 8);

static_assert(ARMCI_OK == 0 && ARMCI_PENDING == 1 && ARMCI_ERR_STATE == 2 && ARMCI_ERR_SYSTEM == 16);
static_assert(ARMCI_ACC_INT == 0 && ARMCI_ACC_LNG == 1 && ARMCI_ACC_FLT == 2);
static_assert(ARMCI_ACC_DBL == 3 && ARMCI_ACC_CPL == 4 && ARMCI_ACC_DCP == 5);
static_assert(ARMCI_FETCH_AND_ADD == 0 && ARMCI_FETCH_AND_ADD_LONG == 1);
static_assert(ARMCI_SWAP == 2 && ARMCI_SWAP_LONG == 3);
static_assert(ARMCI_DOMAIN_SMP == 0);
static_assert(ARMCI_INT == 0 && ARMCI_LONG == 1 && ARMCI_LONG_LONG == 2 && ARMCI_FLOAT == 3 && ARMCI_DOUBLE == 4);
static_assert(SCOPE_ALL == 0 && SCOPE_NODE == 1 && SCOPE_MASTERS == 2);

static_assert(ARMCIX_ADD == 0 && ARMCIX_SWAP == 1 && ARMCIX_CAS == 2 && ARMCIX_AND == 3);
static_assert(ARMCIX_OR == 4 && ARMCIX_XOR == 5 && ARMCIX_MIN == 6 && ARMCIX_MAX == 7);
static_assert(ARMCIX_INT32 == 0 && ARMCIX_INT64 == 1 && ARMCIX_UINT32 == 2 && ARMCIX_UINT64 == 3);
static_assert(ARMCIX_SIGNAL_SET == 0 && ARMCIX_SIGNAL_ADD == 1);
static_assert(ARMCIX_CMP_EQ == 0 && ARMCIX_CMP_NE == 1 && ARMCIX_CMP_GT == 2);
static_assert(ARMCIX_CMP_GE == 3 && ARMCIX_CMP_LT == 4 && ARMCIX_CMP_LE == 5);
static_assert(ARMCIX_MODE_DEFAULT == 0 && ARMCIX_MODE_READ_ONLY == 1);
static_assert(ARMCIX_MODE_ACC_ONLY == 2 && ARMCIX_MODE_PUT_ONLY == 3);

#define SAME_TYPE(name, twin) \
  static_assert(std::is_same_v<decltype(name), decltype(twin)>, #name " and " #twin " have different types")

SAME_TYPE(ARMCI_Init, PARMCI_Init);
SAME_TYPE(ARMCI_Init_args, PARMCI_Init_args);
SAME_TYPE(ARMCI_Init_thread, PARMCI_Init_thread);
SAME_TYPE(ARMCI_Init_thread_comm, PARMCI_Init_thread_comm);
SAME_TYPE(ARMCI_Init_mpi_comm, PARMCI_Init_mpi_comm);
SAME_TYPE(ARMCI_Initialized, PARMCI_Initialized);
SAME_TYPE(ARMCI_Finalize, PARMCI_Finalize);
SAME_TYPE(ARMCI_Cleanup, PARMCI_Cleanup);
SAME_TYPE(ARMCI_Error, PARMCI_Error);
SAME_TYPE(ARMCI_Malloc, PARMCI_Malloc);
SAME_TYPE(ARMCI_Free, PARMCI_Free);
SAME_TYPE(ARMCI_Malloc_local, PARMCI_Malloc_local);
SAME_TYPE(ARMCI_Free_local, PARMCI_Free_local);
SAME_TYPE(ARMCI_Malloc_group, PARMCI_Malloc_group);
SAME_TYPE(ARMCI_Free_group, PARMCI_Free_group);
SAME_TYPE(ARMCI_Malloc_memdev, PARMCI_Malloc_memdev);
SAME_TYPE(ARMCI_Malloc_group_memdev, PARMCI_Malloc_group_memdev);
SAME_TYPE(ARMCI_Free_memdev, PARMCI_Free_memdev);
SAME_TYPE(ARMCI_Memget, PARMCI_Memget);
SAME_TYPE(ARMCI_Memat, PARMCI_Memat);
SAME_TYPE(ARMCI_Memdt, PARMCI_Memdt);
SAME_TYPE(ARMCI_Memctl, PARMCI_Memctl);
SAME_TYPE(ARMCI_Copy, PARMCI_Copy);
SAME_TYPE(ARMCI_Uses_shm, PARMCI_Uses_shm);
SAME_TYPE(ARMCI_Uses_shm_grp, PARMCI_Uses_shm_grp);
SAME_TYPE(ARMCI_Set_shm_limit, PARMCI_Set_shm_limit);
SAME_TYPE(ARMCI_Access_begin, PARMCI_Access_begin);
SAME_TYPE(ARMCI_Access_end, PARMCI_Access_end);
SAME_TYPE(ARMCI_Put, PARMCI_Put);
SAME_TYPE(ARMCI_Get, PARMCI_Get);
SAME_TYPE(ARMCI_Acc, PARMCI_Acc);
SAME_TYPE(ARMCI_PutS, PARMCI_PutS);
SAME_TYPE(ARMCI_GetS, PARMCI_GetS);
SAME_TYPE(ARMCI_AccS, PARMCI_AccS);
SAME_TYPE(ARMCI_PutV, PARMCI_PutV);
SAME_TYPE(ARMCI_GetV, PARMCI_GetV);
SAME_TYPE(ARMCI_AccV, PARMCI_AccV);
SAME_TYPE(ARMCI_NbPut, PARMCI_NbPut);
SAME_TYPE(ARMCI_NbGet, PARMCI_NbGet);
SAME_TYPE(ARMCI_NbAcc, PARMCI_NbAcc);
SAME_TYPE(ARMCI_NbPutS, PARMCI_NbPutS);
SAME_TYPE(ARMCI_NbGetS, PARMCI_NbGetS);
SAME_TYPE(ARMCI_NbAccS, PARMCI_NbAccS);
SAME_TYPE(ARMCI_NbPutV, PARMCI_NbPutV);
SAME_TYPE(ARMCI_NbGetV, PARMCI_NbGetV);
SAME_TYPE(ARMCI_NbAccV, PARMCI_NbAccV);
SAME_TYPE(ARMCI_Put_flag, PARMCI_Put_flag);
SAME_TYPE(ARMCI_PutS_flag, PARMCI_PutS_flag);
SAME_TYPE(ARMCI_PutValueInt, PARMCI_PutValueInt);
SAME_TYPE(ARMCI_PutValueLong, PARMCI_PutValueLong);
SAME_TYPE(ARMCI_PutValueFloat, PARMCI_PutValueFloat);
SAME_TYPE(ARMCI_PutValueDouble, PARMCI_PutValueDouble);
SAME_TYPE(ARMCI_NbPutValueInt, PARMCI_NbPutValueInt);
SAME_TYPE(ARMCI_NbPutValueLong, PARMCI_NbPutValueLong);
SAME_TYPE(ARMCI_NbPutValueFloat, PARMCI_NbPutValueFloat);
SAME_TYPE(ARMCI_NbPutValueDouble, PARMCI_NbPutValueDouble);
SAME_TYPE(ARMCI_GetValueInt, PARMCI_GetValueInt);
SAME_TYPE(ARMCI_GetValueLong, PARMCI_GetValueLong);
SAME_TYPE(ARMCI_GetValueFloat, PARMCI_GetValueFloat);
SAME_TYPE(ARMCI_GetValueDouble, PARMCI_GetValueDouble);
SAME_TYPE(ARMCI_INIT_HANDLE, PARMCI_INIT_HANDLE);
SAME_TYPE(ARMCI_SET_AGGREGATE_HANDLE, PARMCI_SET_AGGREGATE_HANDLE);
SAME_TYPE(ARMCI_UNSET_AGGREGATE_HANDLE, PARMCI_UNSET_AGGREGATE_HANDLE);
SAME_TYPE(ARMCI_Wait, PARMCI_Wait);
SAME_TYPE(ARMCI_Test, PARMCI_Test);
SAME_TYPE(ARMCI_WaitProc, PARMCI_WaitProc);
SAME_TYPE(ARMCI_WaitAll, PARMCI_WaitAll);
SAME_TYPE(ARMCI_Fence, PARMCI_Fence);
SAME_TYPE(ARMCI_AllFence, PARMCI_AllFence);
SAME_TYPE(ARMCI_GroupFence, PARMCI_GroupFence);
SAME_TYPE(ARMCI_Barrier, PARMCI_Barrier);
SAME_TYPE(ARMCI_Poll, PARMCI_Poll);
SAME_TYPE(ARMCI_Rmw, PARMCI_Rmw);
SAME_TYPE(ARMCI_Create_mutexes, PARMCI_Create_mutexes);
SAME_TYPE(ARMCI_Destroy_mutexes, PARMCI_Destroy_mutexes);
SAME_TYPE(ARMCI_Lock, PARMCI_Lock);
SAME_TYPE(ARMCI_Unlock, PARMCI_Unlock);
SAME_TYPE(armci_notify, parmci_notify);
SAME_TYPE(armci_notify_wait, parmci_notify_wait);
SAME_TYPE(ARMCI_Group_create, PARMCI_Group_create);
SAME_TYPE(ARMCI_Group_create_child, PARMCI_Group_create_child);
SAME_TYPE(ARMCI_Group_free, PARMCI_Group_free);
SAME_TYPE(ARMCI_Group_rank, PARMCI_Group_rank);
SAME_TYPE(ARMCI_Group_size, PARMCI_Group_size);
SAME_TYPE(ARMCI_Group_set_default, PARMCI_Group_set_default);
SAME_TYPE(ARMCI_Group_get_default, PARMCI_Group_get_default);
SAME_TYPE(ARMCI_Group_get_world, PARMCI_Group_get_world);
SAME_TYPE(ARMCI_Absolute_id, PARMCI_Absolute_id);
SAME_TYPE(armci_group_comm, parmci_group_comm);
SAME_TYPE(armci_domain_nprocs, parmci_domain_nprocs);
SAME_TYPE(armci_domain_id, parmci_domain_id);
SAME_TYPE(armci_domain_glob_proc_id, parmci_domain_glob_proc_id);
SAME_TYPE(armci_domain_my_id, parmci_domain_my_id);
SAME_TYPE(armci_domain_count, parmci_domain_count);
SAME_TYPE(armci_domain_same_id, parmci_domain_same_id);
SAME_TYPE(ARMCI_Same_node, PARMCI_Same_node);
SAME_TYPE(armci_msg_me, parmci_msg_me);
SAME_TYPE(armci_msg_nproc, parmci_msg_nproc);
SAME_TYPE(armci_msg_abort, parmci_msg_abort);
SAME_TYPE(armci_timer, parmci_timer);
SAME_TYPE(armci_msg_snd, parmci_msg_snd);
SAME_TYPE(armci_msg_rcv, parmci_msg_rcv);
SAME_TYPE(armci_msg_rcvany, parmci_msg_rcvany);
SAME_TYPE(armci_msg_barrier, parmci_msg_barrier);
SAME_TYPE(armci_msg_group_barrier, parmci_msg_group_barrier);
SAME_TYPE(armci_msg_bintree, parmci_msg_bintree);
SAME_TYPE(armci_msg_bcast, parmci_msg_bcast);
SAME_TYPE(armci_msg_brdcst, parmci_msg_brdcst);
SAME_TYPE(armci_msg_bcast_scope, parmci_msg_bcast_scope);
SAME_TYPE(armci_msg_group_bcast_scope, parmci_msg_group_bcast_scope);
SAME_TYPE(armci_msg_clus_brdcst, parmci_msg_clus_brdcst);
SAME_TYPE(armci_msg_reduce, parmci_msg_reduce);
SAME_TYPE(armci_msg_reduce_scope, parmci_msg_reduce_scope);
SAME_TYPE(armci_msg_sel, parmci_msg_sel);
SAME_TYPE(armci_msg_sel_scope, parmci_msg_sel_scope);
SAME_TYPE(armci_msg_igop, parmci_msg_igop);
SAME_TYPE(armci_msg_lgop, parmci_msg_lgop);
SAME_TYPE(armci_msg_llgop, parmci_msg_llgop);
SAME_TYPE(armci_msg_fgop, parmci_msg_fgop);
SAME_TYPE(armci_msg_dgop, parmci_msg_dgop);
SAME_TYPE(armci_msg_gop_scope, parmci_msg_gop_scope);
SAME_TYPE(armci_msg_group_igop, parmci_msg_group_igop);
SAME_TYPE(armci_msg_group_lgop, parmci_msg_group_lgop);
SAME_TYPE(armci_msg_group_llgop, parmci_msg_group_llgop);
SAME_TYPE(armci_msg_group_fgop, parmci_msg_group_fgop);
SAME_TYPE(armci_msg_group_dgop, parmci_msg_group_dgop);
SAME_TYPE(armci_msg_group_gop_scope, parmci_msg_group_gop_scope);
SAME_TYPE(armci_msg_clus_igop, parmci_msg_clus_igop);
SAME_TYPE(armci_msg_clus_lgop, parmci_msg_clus_lgop);
SAME_TYPE(armci_msg_clus_llgop, parmci_msg_clus_llgop);
SAME_TYPE(armci_msg_clus_fgop, parmci_msg_clus_fgop);
SAME_TYPE(armci_msg_clus_dgop, parmci_msg_clus_dgop);
SAME_TYPE(armci_exchange_address, parmci_exchange_address);
SAME_TYPE(armci_exchange_address_grp, parmci_exchange_address_grp);
SAME_TYPE(armci_read_strided, parmci_read_strided);
SAME_TYPE(armci_write_strided, parmci_write_strided);
SAME_TYPE(ARMCIX_Put, PARMCIX_Put);
SAME_TYPE(ARMCIX_Get, PARMCIX_Get);
SAME_TYPE(ARMCIX_Acc, PARMCIX_Acc);
SAME_TYPE(ARMCIX_PutS, PARMCIX_PutS);
SAME_TYPE(ARMCIX_GetS, PARMCIX_GetS);
SAME_TYPE(ARMCIX_AccS, PARMCIX_AccS);
SAME_TYPE(ARMCIX_PutV, PARMCIX_PutV);
SAME_TYPE(ARMCIX_GetV, PARMCIX_GetV);
SAME_TYPE(ARMCIX_AccV, PARMCIX_AccV);
SAME_TYPE(ARMCIX_NbPut, PARMCIX_NbPut);
SAME_TYPE(ARMCIX_NbGet, PARMCIX_NbGet);
SAME_TYPE(ARMCIX_NbAcc, PARMCIX_NbAcc);
SAME_TYPE(ARMCIX_NbPutS, PARMCIX_NbPutS);
SAME_TYPE(ARMCIX_NbGetS, PARMCIX_NbGetS);
SAME_TYPE(ARMCIX_NbAccS, PARMCIX_NbAccS);
SAME_TYPE(ARMCIX_NbPutV, PARMCIX_NbPutV);
SAME_TYPE(ARMCIX_NbGetV, PARMCIX_NbGetV);
SAME_TYPE(ARMCIX_NbAccV, PARMCIX_NbAccV);
SAME_TYPE(ARMCIX_Rmw, PARMCIX_Rmw);
SAME_TYPE(ARMCIX_NbRmw, PARMCIX_NbRmw);
SAME_TYPE(ARMCIX_Put_signal, PARMCIX_Put_signal);
SAME_TYPE(ARMCIX_NbPut_signal, PARMCIX_NbPut_signal);
SAME_TYPE(ARMCIX_Signal_wait, PARMCIX_Signal_wait);
SAME_TYPE(ARMCIX_Signal_test, PARMCIX_Signal_test);
SAME_TYPE(ARMCIX_Create_mutexes_hdl, PARMCIX_Create_mutexes_hdl);
SAME_TYPE(ARMCIX_Destroy_mutexes_hdl, PARMCIX_Destroy_mutexes_hdl);
SAME_TYPE(ARMCIX_Lock_hdl, PARMCIX_Lock_hdl);
SAME_TYPE(ARMCIX_Trylock_hdl, PARMCIX_Trylock_hdl);
SAME_TYPE(ARMCIX_Unlock_hdl, PARMCIX_Unlock_hdl);
SAME_TYPE(ARMCIX_Group_split, PARMCIX_Group_split);
SAME_TYPE(ARMCIX_Group_dup, PARMCIX_Group_dup);
SAME_TYPE(ARMCIX_Progress, PARMCIX_Progress);
SAME_TYPE(ARMCIX_Ptr, PARMCIX_Ptr);
SAME_TYPE(ARMCIX_Region_mode, PARMCIX_Region_mode);
SAME_TYPE(ARMCIX_Implementation, PARMCIX_Implementation);
SAME_TYPE(ARMCIX_Version, PARMCIX_Version);
SAME_TYPE(ARMCIX_Capabilities, PARMCIX_Capabilities);
SAME_TYPE(ARMCIX_Query_thread, PARMCIX_Query_thread);
SAME_TYPE(ARMCIX_Stats_get, PARMCIX_Stats_get);
SAME_TYPE(ARMCIX_Stats_call, PARMCIX_Stats_call);
SAME_TYPE(ARMCIX_Stats_reset, PARMCIX_Stats_reset);
SAME_TYPE(ARMCIX_Setting, PARMCIX_Setting);
SAME_TYPE(ARMCIX_Finding, PARMCIX_Finding);
SAME_TYPE(ARMCIX_Choice, PARMCIX_Choice);

namespace {

int failures = 0;

void expect_equal(const char *what, std::size_t in_c, std::size_t in_cplusplus) {
  if (in_c == in_cplusplus) return;
  ++failures;
  std::printf("%s: %zu in C, %zu in C++\n", what, in_c, in_cplusplus);
}

}  // namespace

int main() {
  const AbiSizes c = abi_sizes_in_c();
  expect_equal("sizeof(armci_hdl_t)", c.handle, sizeof(armci_hdl_t));
  expect_equal("sizeof(ARMCI_Group)", c.group, sizeof(ARMCI_Group));
  expect_equal("sizeof(armci_giov_t)", c.giov, sizeof(armci_giov_t));
  expect_equal("sizeof(armci_meminfo_t)", c.meminfo, sizeof(armci_meminfo_t));
  expect_equal("sizeof(armci_domain_t)", c.domain, sizeof(armci_domain_t));
  expect_equal("sizeof(armcix_giov_t)", c.giovx, sizeof(armcix_giov_t));
  expect_equal("sizeof(armcix_op_t)", c.op, sizeof(armcix_op_t));
  expect_equal("sizeof(armcix_stats_t)", c.stats, sizeof(armcix_stats_t));
  expect_equal("sizeof(armcix_call_stats_t)", c.call_stats, sizeof(armcix_call_stats_t));
  expect_equal("sizeof(armcix_setting_t)", c.setting, sizeof(armcix_setting_t));
  expect_equal("sizeof(armcix_finding_t)", c.finding, sizeof(armcix_finding_t));
  expect_equal("sizeof(armcix_choice_t)", c.choice, sizeof(armcix_choice_t));
  if (c.abi_version != &armci_abi_version_1 || armci_abi_reference != &armci_abi_version_1) {
    ++failures;
    std::printf("an object compiled with armci.h does not refer to armci_abi_version_1\n");
  }
  std::printf("%s\n", failures == 0 ? "PASS" : "FAIL");
  return failures == 0 ? 0 : 1;
}
