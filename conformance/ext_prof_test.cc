// PROF-1, ABI-1: profiling twins and the binary interface.

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "conformance/harness/test.h"
#include "parmci.h"

namespace {

// Calls of this program to the functions that it takes over below.
std::atomic<long> taken_over{0};

}  // namespace

// A program that defines F gets its own calls, and passes them on to PF. Weak, so that a defective library made by the
// same means can still be put in front of a right one; the program's weak definition comes before the library's.
#define TAKEN_OVER extern "C" __attribute__((weak))

TAKEN_OVER void ARMCI_AllFence(void) {
  ++taken_over;
  PARMCI_AllFence();
}
TAKEN_OVER int ARMCI_WaitAll(void) {
  ++taken_over;
  return PARMCI_WaitAll();
}
TAKEN_OVER void ARMCI_Fence(int proc) {
  ++taken_over;
  PARMCI_Fence(proc);
}
TAKEN_OVER void armci_msg_barrier(void) {
  ++taken_over;
  parmci_msg_barrier();
}
TAKEN_OVER int ARMCI_Wait(armci_hdl_t* hdl) {
  ++taken_over;
  return PARMCI_Wait(hdl);
}
#undef TAKEN_OVER

namespace conformance {
namespace {

CLAUSE_TEST(PROF, PROF1_the_program_sees_its_own_calls_and_no_others, "PROF-1") {
  Region region(4096);
  const int target = (Me() + 1) % Np();
  long before = taken_over;
  ARMCI_AllFence();
  ARMCI_Fence(target);
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  armci_msg_barrier();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  EXPECT_EQ(taken_over - before, 5);
  // Calls that fence, wait and meet inside: the library must not come back through the public names.
  before = taken_over;
  ARMCI_Barrier();
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  EXPECT_EQ(ARMCI_Malloc(ptr.data(), 64), 0);
  long value = 1;
  EXPECT_EQ(ARMCI_NbPut(&value, region.At(target), 8, target, nullptr), 0);
  int flag_value = 1;
  EXPECT_EQ(
      ARMCI_Put_flag(&value, region.At(target), 8, reinterpret_cast<int*>(region.At(target, 64)), flag_value, target),
      0);
  EXPECT_EQ(armci_notify(target), 0);
  int count = 0;
  EXPECT_EQ(armci_notify_wait((Me() + Np() - 1) % Np(), &count), 0);
  EXPECT_EQ(ARMCI_Create_mutexes(1), 0);
  ARMCI_Lock(0, target);
  ARMCI_Unlock(0, target);
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCI_GroupFence(&world);
  armci_msg_group_barrier(&world);
  EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
  EXPECT_EQ(taken_over - before, 0) << "the library called a public function";
}

struct Twin {
  const char* name;
  const void* address;
};

template <typename Function>
const void* Address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

CLAUSE_TEST(PROF, PROF1_every_function_has_a_twin, "PROF-1") {
  // That this links is most of the test.
  const Twin twins[] = {{"PARMCIX_Acc", Address(PARMCIX_Acc)},
                        {"PARMCIX_AccS", Address(PARMCIX_AccS)},
                        {"PARMCIX_AccV", Address(PARMCIX_AccV)},
                        {"PARMCIX_Capabilities", Address(PARMCIX_Capabilities)},
                        {"PARMCIX_Create_mutexes_hdl", Address(PARMCIX_Create_mutexes_hdl)},
                        {"PARMCIX_Destroy_mutexes_hdl", Address(PARMCIX_Destroy_mutexes_hdl)},
                        {"PARMCIX_Get", Address(PARMCIX_Get)},
                        {"PARMCIX_GetS", Address(PARMCIX_GetS)},
                        {"PARMCIX_GetV", Address(PARMCIX_GetV)},
                        {"PARMCIX_Group_dup", Address(PARMCIX_Group_dup)},
                        {"PARMCIX_Group_split", Address(PARMCIX_Group_split)},
                        {"PARMCIX_Implementation", Address(PARMCIX_Implementation)},
                        {"PARMCIX_Lock_hdl", Address(PARMCIX_Lock_hdl)},
                        {"PARMCIX_NbAcc", Address(PARMCIX_NbAcc)},
                        {"PARMCIX_NbAccS", Address(PARMCIX_NbAccS)},
                        {"PARMCIX_NbAccV", Address(PARMCIX_NbAccV)},
                        {"PARMCIX_NbGet", Address(PARMCIX_NbGet)},
                        {"PARMCIX_NbGetS", Address(PARMCIX_NbGetS)},
                        {"PARMCIX_NbGetV", Address(PARMCIX_NbGetV)},
                        {"PARMCIX_NbPut", Address(PARMCIX_NbPut)},
                        {"PARMCIX_NbPutS", Address(PARMCIX_NbPutS)},
                        {"PARMCIX_NbPutV", Address(PARMCIX_NbPutV)},
                        {"PARMCIX_NbPut_signal", Address(PARMCIX_NbPut_signal)},
                        {"PARMCIX_NbRmw", Address(PARMCIX_NbRmw)},
                        {"PARMCIX_Progress", Address(PARMCIX_Progress)},
                        {"PARMCIX_Ptr", Address(PARMCIX_Ptr)},
                        {"PARMCIX_Put", Address(PARMCIX_Put)},
                        {"PARMCIX_PutS", Address(PARMCIX_PutS)},
                        {"PARMCIX_PutV", Address(PARMCIX_PutV)},
                        {"PARMCIX_Put_signal", Address(PARMCIX_Put_signal)},
                        {"PARMCIX_Query_thread", Address(PARMCIX_Query_thread)},
                        {"PARMCIX_Region_mode", Address(PARMCIX_Region_mode)},
                        {"PARMCIX_Rmw", Address(PARMCIX_Rmw)},
                        {"PARMCIX_Setting", Address(PARMCIX_Setting)},
                        {"PARMCIX_Signal_test", Address(PARMCIX_Signal_test)},
                        {"PARMCIX_Signal_wait", Address(PARMCIX_Signal_wait)},
                        {"PARMCIX_Stats_call", Address(PARMCIX_Stats_call)},
                        {"PARMCIX_Stats_get", Address(PARMCIX_Stats_get)},
                        {"PARMCIX_Stats_reset", Address(PARMCIX_Stats_reset)},
                        {"PARMCIX_Trylock_hdl", Address(PARMCIX_Trylock_hdl)},
                        {"PARMCIX_Unlock_hdl", Address(PARMCIX_Unlock_hdl)},
                        {"PARMCIX_Version", Address(PARMCIX_Version)},
                        {"PARMCI_Absolute_id", Address(PARMCI_Absolute_id)},
                        {"PARMCI_Acc", Address(PARMCI_Acc)},
                        {"PARMCI_AccS", Address(PARMCI_AccS)},
                        {"PARMCI_AccV", Address(PARMCI_AccV)},
                        {"PARMCI_Access_begin", Address(PARMCI_Access_begin)},
                        {"PARMCI_Access_end", Address(PARMCI_Access_end)},
                        {"PARMCI_AllFence", Address(PARMCI_AllFence)},
                        {"PARMCI_Barrier", Address(PARMCI_Barrier)},
                        {"PARMCI_Cleanup", Address(PARMCI_Cleanup)},
                        {"PARMCI_Copy", Address(PARMCI_Copy)},
                        {"PARMCI_Create_mutexes", Address(PARMCI_Create_mutexes)},
                        {"PARMCI_Destroy_mutexes", Address(PARMCI_Destroy_mutexes)},
                        {"PARMCI_Error", Address(PARMCI_Error)},
                        {"PARMCI_Fence", Address(PARMCI_Fence)},
                        {"PARMCI_Finalize", Address(PARMCI_Finalize)},
                        {"PARMCI_Free", Address(PARMCI_Free)},
                        {"PARMCI_Free_group", Address(PARMCI_Free_group)},
                        {"PARMCI_Free_local", Address(PARMCI_Free_local)},
                        {"PARMCI_Free_memdev", Address(PARMCI_Free_memdev)},
                        {"PARMCI_Get", Address(PARMCI_Get)},
                        {"PARMCI_GetS", Address(PARMCI_GetS)},
                        {"PARMCI_GetV", Address(PARMCI_GetV)},
                        {"PARMCI_GetValueDouble", Address(PARMCI_GetValueDouble)},
                        {"PARMCI_GetValueFloat", Address(PARMCI_GetValueFloat)},
                        {"PARMCI_GetValueInt", Address(PARMCI_GetValueInt)},
                        {"PARMCI_GetValueLong", Address(PARMCI_GetValueLong)},
                        {"PARMCI_GroupFence", Address(PARMCI_GroupFence)},
                        {"PARMCI_Group_create", Address(PARMCI_Group_create)},
                        {"PARMCI_Group_create_child", Address(PARMCI_Group_create_child)},
                        {"PARMCI_Group_free", Address(PARMCI_Group_free)},
                        {"PARMCI_Group_get_default", Address(PARMCI_Group_get_default)},
                        {"PARMCI_Group_get_world", Address(PARMCI_Group_get_world)},
                        {"PARMCI_Group_rank", Address(PARMCI_Group_rank)},
                        {"PARMCI_Group_set_default", Address(PARMCI_Group_set_default)},
                        {"PARMCI_Group_size", Address(PARMCI_Group_size)},
                        {"PARMCI_INIT_HANDLE", Address(PARMCI_INIT_HANDLE)},
                        {"PARMCI_Init", Address(PARMCI_Init)},
                        {"PARMCI_Init_args", Address(PARMCI_Init_args)},
                        {"PARMCI_Init_mpi_comm", Address(PARMCI_Init_mpi_comm)},
                        {"PARMCI_Init_thread", Address(PARMCI_Init_thread)},
                        {"PARMCI_Init_thread_comm", Address(PARMCI_Init_thread_comm)},
                        {"PARMCI_Initialized", Address(PARMCI_Initialized)},
                        {"PARMCI_Lock", Address(PARMCI_Lock)},
                        {"PARMCI_Malloc", Address(PARMCI_Malloc)},
                        {"PARMCI_Malloc_group", Address(PARMCI_Malloc_group)},
                        {"PARMCI_Malloc_group_memdev", Address(PARMCI_Malloc_group_memdev)},
                        {"PARMCI_Malloc_local", Address(PARMCI_Malloc_local)},
                        {"PARMCI_Malloc_memdev", Address(PARMCI_Malloc_memdev)},
                        {"PARMCI_Memat", Address(PARMCI_Memat)},
                        {"PARMCI_Memctl", Address(PARMCI_Memctl)},
                        {"PARMCI_Memdt", Address(PARMCI_Memdt)},
                        {"PARMCI_Memget", Address(PARMCI_Memget)},
                        {"PARMCI_NbAcc", Address(PARMCI_NbAcc)},
                        {"PARMCI_NbAccS", Address(PARMCI_NbAccS)},
                        {"PARMCI_NbAccV", Address(PARMCI_NbAccV)},
                        {"PARMCI_NbGet", Address(PARMCI_NbGet)},
                        {"PARMCI_NbGetS", Address(PARMCI_NbGetS)},
                        {"PARMCI_NbGetV", Address(PARMCI_NbGetV)},
                        {"PARMCI_NbPut", Address(PARMCI_NbPut)},
                        {"PARMCI_NbPutS", Address(PARMCI_NbPutS)},
                        {"PARMCI_NbPutV", Address(PARMCI_NbPutV)},
                        {"PARMCI_NbPutValueDouble", Address(PARMCI_NbPutValueDouble)},
                        {"PARMCI_NbPutValueFloat", Address(PARMCI_NbPutValueFloat)},
                        {"PARMCI_NbPutValueInt", Address(PARMCI_NbPutValueInt)},
                        {"PARMCI_NbPutValueLong", Address(PARMCI_NbPutValueLong)},
                        {"PARMCI_Poll", Address(PARMCI_Poll)},
                        {"PARMCI_Put", Address(PARMCI_Put)},
                        {"PARMCI_PutS", Address(PARMCI_PutS)},
                        {"PARMCI_PutS_flag", Address(PARMCI_PutS_flag)},
                        {"PARMCI_PutV", Address(PARMCI_PutV)},
                        {"PARMCI_PutValueDouble", Address(PARMCI_PutValueDouble)},
                        {"PARMCI_PutValueFloat", Address(PARMCI_PutValueFloat)},
                        {"PARMCI_PutValueInt", Address(PARMCI_PutValueInt)},
                        {"PARMCI_PutValueLong", Address(PARMCI_PutValueLong)},
                        {"PARMCI_Put_flag", Address(PARMCI_Put_flag)},
                        {"PARMCI_Rmw", Address(PARMCI_Rmw)},
                        {"PARMCI_SET_AGGREGATE_HANDLE", Address(PARMCI_SET_AGGREGATE_HANDLE)},
                        {"PARMCI_Same_node", Address(PARMCI_Same_node)},
                        {"PARMCI_Set_shm_limit", Address(PARMCI_Set_shm_limit)},
                        {"PARMCI_Test", Address(PARMCI_Test)},
                        {"PARMCI_UNSET_AGGREGATE_HANDLE", Address(PARMCI_UNSET_AGGREGATE_HANDLE)},
                        {"PARMCI_Unlock", Address(PARMCI_Unlock)},
                        {"PARMCI_Uses_shm", Address(PARMCI_Uses_shm)},
                        {"PARMCI_Uses_shm_grp", Address(PARMCI_Uses_shm_grp)},
                        {"PARMCI_Wait", Address(PARMCI_Wait)},
                        {"PARMCI_WaitAll", Address(PARMCI_WaitAll)},
                        {"PARMCI_WaitProc", Address(PARMCI_WaitProc)},
                        {"parmci_domain_count", Address(parmci_domain_count)},
                        {"parmci_domain_glob_proc_id", Address(parmci_domain_glob_proc_id)},
                        {"parmci_domain_id", Address(parmci_domain_id)},
                        {"parmci_domain_my_id", Address(parmci_domain_my_id)},
                        {"parmci_domain_nprocs", Address(parmci_domain_nprocs)},
                        {"parmci_domain_same_id", Address(parmci_domain_same_id)},
                        {"parmci_exchange_address", Address(parmci_exchange_address)},
                        {"parmci_exchange_address_grp", Address(parmci_exchange_address_grp)},
                        {"parmci_group_comm", Address(parmci_group_comm)},
                        {"parmci_msg_abort", Address(parmci_msg_abort)},
                        {"parmci_msg_barrier", Address(parmci_msg_barrier)},
                        {"parmci_msg_bcast", Address(parmci_msg_bcast)},
                        {"parmci_msg_bcast_scope", Address(parmci_msg_bcast_scope)},
                        {"parmci_msg_bintree", Address(parmci_msg_bintree)},
                        {"parmci_msg_brdcst", Address(parmci_msg_brdcst)},
                        {"parmci_msg_clus_brdcst", Address(parmci_msg_clus_brdcst)},
                        {"parmci_msg_clus_dgop", Address(parmci_msg_clus_dgop)},
                        {"parmci_msg_clus_fgop", Address(parmci_msg_clus_fgop)},
                        {"parmci_msg_clus_igop", Address(parmci_msg_clus_igop)},
                        {"parmci_msg_clus_lgop", Address(parmci_msg_clus_lgop)},
                        {"parmci_msg_clus_llgop", Address(parmci_msg_clus_llgop)},
                        {"parmci_msg_dgop", Address(parmci_msg_dgop)},
                        {"parmci_msg_fgop", Address(parmci_msg_fgop)},
                        {"parmci_msg_gop_scope", Address(parmci_msg_gop_scope)},
                        {"parmci_msg_group_barrier", Address(parmci_msg_group_barrier)},
                        {"parmci_msg_group_bcast_scope", Address(parmci_msg_group_bcast_scope)},
                        {"parmci_msg_group_dgop", Address(parmci_msg_group_dgop)},
                        {"parmci_msg_group_fgop", Address(parmci_msg_group_fgop)},
                        {"parmci_msg_group_gop_scope", Address(parmci_msg_group_gop_scope)},
                        {"parmci_msg_group_igop", Address(parmci_msg_group_igop)},
                        {"parmci_msg_group_lgop", Address(parmci_msg_group_lgop)},
                        {"parmci_msg_group_llgop", Address(parmci_msg_group_llgop)},
                        {"parmci_msg_igop", Address(parmci_msg_igop)},
                        {"parmci_msg_lgop", Address(parmci_msg_lgop)},
                        {"parmci_msg_llgop", Address(parmci_msg_llgop)},
                        {"parmci_msg_me", Address(parmci_msg_me)},
                        {"parmci_msg_nproc", Address(parmci_msg_nproc)},
                        {"parmci_msg_rcv", Address(parmci_msg_rcv)},
                        {"parmci_msg_rcvany", Address(parmci_msg_rcvany)},
                        {"parmci_msg_reduce", Address(parmci_msg_reduce)},
                        {"parmci_msg_reduce_scope", Address(parmci_msg_reduce_scope)},
                        {"parmci_msg_sel", Address(parmci_msg_sel)},
                        {"parmci_msg_sel_scope", Address(parmci_msg_sel_scope)},
                        {"parmci_msg_snd", Address(parmci_msg_snd)},
                        {"parmci_notify", Address(parmci_notify)},
                        {"parmci_notify_wait", Address(parmci_notify_wait)},
                        {"parmci_read_strided", Address(parmci_read_strided)},
                        {"parmci_timer", Address(parmci_timer)},
                        {"parmci_write_strided", Address(parmci_write_strided)}};
  for (const Twin& twin : twins) EXPECT_NE(twin.address, nullptr) << twin.name;
}

CLAUSE_TEST(PROF, PROF1_twins_do_the_same, "PROF-1") {
  Region region(256);
  const int target = (Me() + 1) % Np();
  long value = 100 + Me();
  long back = 0;
  EXPECT_EQ(PARMCI_Put(&value, region.At(target), 8, target), 0);
  EXPECT_EQ(PARMCI_Get(region.At(target), &back, 8, target), 0);
  EXPECT_EQ(back, value);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(target), target), value);
  EXPECT_EQ(PARMCI_GetValueLong(region.At(target), target), value);
  long one = 1;
  EXPECT_EQ(PARMCI_Acc(ARMCI_ACC_LNG, &one, &value, region.At(target), 8, target), 0);
  EXPECT_EQ(PARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &back, region.At(target), 1, target), 0);
  EXPECT_EQ(back, 2 * value);
  EXPECT_EQ(PARMCIX_Put(&value, region.At(target), 8, target), 0);
  PARMCI_Barrier();
  EXPECT_EQ(LoadShared<long>(region.Mine()), 100 + (Me() + Np() - 1) % Np());
  EXPECT_EQ(parmci_msg_me(), Me());
  EXPECT_EQ(PARMCI_Initialized(), 1);
}

CLAUSE_TEST(ABI, ABI1_sizes_orders_and_constants, "ABI-1") {
  EXPECT_LE(sizeof(armci_hdl_t), 8u);
  EXPECT_EQ(sizeof(ARMCI_Group), 32u);
  EXPECT_EQ(offsetof(ARMCI_Group, comm), 0u);
  EXPECT_TRUE((std::is_same_v<armci_size_t, long>));
  EXPECT_EQ(offsetof(armci_giov_t, src_ptr_array), 0u);
  EXPECT_EQ(offsetof(armci_giov_t, dst_ptr_array), 8u);
  EXPECT_EQ(offsetof(armci_giov_t, bytes), 16u);
  EXPECT_EQ(offsetof(armci_giov_t, ptr_array_len), 20u);
  EXPECT_EQ(ARMCI_ACC_INT, 0);
  EXPECT_EQ(ARMCI_ACC_LNG, 1);
  EXPECT_EQ(ARMCI_ACC_FLT, 2);
  EXPECT_EQ(ARMCI_ACC_DBL, 3);
  EXPECT_EQ(ARMCI_ACC_CPL, 4);
  EXPECT_EQ(ARMCI_ACC_DCP, 5);
  EXPECT_EQ(ARMCI_FETCH_AND_ADD, 0);
  EXPECT_EQ(ARMCI_FETCH_AND_ADD_LONG, 1);
  EXPECT_EQ(ARMCI_SWAP, 2);
  EXPECT_EQ(ARMCI_SWAP_LONG, 3);
  EXPECT_EQ(ARMCI_INT, 0);
  EXPECT_EQ(ARMCI_DOUBLE, 4);
  EXPECT_EQ(SCOPE_ALL, 0);
  EXPECT_EQ(SCOPE_NODE, 1);
  EXPECT_EQ(SCOPE_MASTERS, 2);
  EXPECT_EQ(ARMCI_DOMAIN_SMP, 0);
  EXPECT_EQ(ARMCI_MAX_STRIDE_LEVEL, 8);
  // A handle and a group are no longer than their types say: the library writes nothing behind them.
  struct Guarded {
    armci_hdl_t handle;
    long guard;
  } guarded{{}, 0x1234};
  ARMCI_INIT_HANDLE(&guarded.handle);
  ARMCI_SET_AGGREGATE_HANDLE(&guarded.handle);
  EXPECT_EQ(ARMCI_Wait(&guarded.handle), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(&guarded.handle);
  EXPECT_EQ(guarded.guard, 0x1234);
  struct GuardedGroup {
    ARMCI_Group group;
    long guard;
  } guarded_group{{}, 0x5678};
  ARMCI_Group_get_world(&guarded_group.group);
  EXPECT_EQ(guarded_group.guard, 0x5678);
}

}  // namespace
}  // namespace conformance
