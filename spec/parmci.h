/* parmci.h - the profiling names of every call: PF is the strong definition behind the weak F.
 * Only tools that interpose need it; programs include armci.h, message.h and armcix.h. */
#ifndef ARMCI_SPEC_PARMCI_H_
#define ARMCI_SPEC_PARMCI_H_

#include "armci.h"
#include "armcix.h"
#include "message.h"

#ifdef __cplusplus
extern "C" {
#endif

int PARMCI_Init(void);
int PARMCI_Init_args(int *argc, char ***argv);
int PARMCI_Init_thread(int required);
int PARMCI_Init_thread_comm(int required, MPI_Comm comm);
int PARMCI_Init_mpi_comm(MPI_Comm comm);
int PARMCI_Initialized(void);
int PARMCI_Finalize(void);
void PARMCI_Cleanup(void);
void PARMCI_Error(const char *msg, int code);
int PARMCI_Malloc(void *ptr[], armci_size_t bytes);
int PARMCI_Free(void *ptr);
void *PARMCI_Malloc_local(armci_size_t bytes);
int PARMCI_Free_local(void *ptr);
int PARMCI_Malloc_group(void *ptr[], armci_size_t bytes, ARMCI_Group *group);
int PARMCI_Free_group(void *ptr, ARMCI_Group *group);
int PARMCI_Malloc_memdev(void *ptr[], armci_size_t bytes, const char *device);
int PARMCI_Malloc_group_memdev(void *ptr[], armci_size_t bytes, ARMCI_Group *group, const char *device);
int PARMCI_Free_memdev(void *ptr);
int PARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag);
void *PARMCI_Memat(armci_meminfo_t *info, long offset);
void PARMCI_Memdt(armci_meminfo_t *info, int flag);
void PARMCI_Memctl(armci_meminfo_t *info);
void PARMCI_Copy(void *src, void *dst, int n);
int PARMCI_Uses_shm(void);
int PARMCI_Uses_shm_grp(ARMCI_Group *group);
void PARMCI_Set_shm_limit(unsigned long bytes);
void PARMCI_Access_begin(void *ptr);
void PARMCI_Access_end(void *ptr);
int PARMCI_Put(void *src, void *dst, int bytes, int proc);
int PARMCI_Get(void *src, void *dst, int bytes, int proc);
int PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);
int PARMCI_PutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc);
int PARMCI_GetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc);
int PARMCI_AccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                int stride_levels, int proc);
int PARMCI_PutV(armci_giov_t *iov, int len, int proc);
int PARMCI_GetV(armci_giov_t *iov, int len, int proc);
int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc);
int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,
                  armci_hdl_t *hdl);
int PARMCI_NbGetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,
                  armci_hdl_t *hdl);
int PARMCI_NbAccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                  int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_NbGetV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc);
int PARMCI_PutS_flag(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels,
                     int *flag, int value, int proc);
int PARMCI_PutValueInt(int value, void *dst, int proc);
int PARMCI_PutValueLong(long value, void *dst, int proc);
int PARMCI_PutValueFloat(float value, void *dst, int proc);
int PARMCI_PutValueDouble(double value, void *dst, int proc);
int PARMCI_NbPutValueInt(int value, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueLong(long value, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueFloat(float value, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueDouble(double value, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_GetValueInt(void *src, int proc);
long PARMCI_GetValueLong(void *src, int proc);
float PARMCI_GetValueFloat(void *src, int proc);
double PARMCI_GetValueDouble(void *src, int proc);
void PARMCI_INIT_HANDLE(armci_hdl_t *hdl);
void PARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl);
void PARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl);
int PARMCI_Wait(armci_hdl_t *hdl);
int PARMCI_Test(armci_hdl_t *hdl);
int PARMCI_WaitProc(int proc);
int PARMCI_WaitAll(void);
void PARMCI_Fence(int proc);
void PARMCI_AllFence(void);
void PARMCI_GroupFence(ARMCI_Group *group);
void PARMCI_Barrier(void);
void PARMCI_Poll(void);
int PARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc);
int PARMCI_Create_mutexes(int n);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Lock(int mutex, int proc);
void PARMCI_Unlock(int mutex, int proc);
int parmci_notify(int proc);
int parmci_notify_wait(int proc, int *pval);
void PARMCI_Group_create(int n, int *pids, ARMCI_Group *out);
void PARMCI_Group_create_child(int n, int *pids, ARMCI_Group *out, ARMCI_Group *parent);
void PARMCI_Group_free(ARMCI_Group *group);
int PARMCI_Group_rank(ARMCI_Group *group, int *rank);
void PARMCI_Group_size(ARMCI_Group *group, int *size);
void PARMCI_Group_set_default(ARMCI_Group *group);
void PARMCI_Group_get_default(ARMCI_Group *out);
void PARMCI_Group_get_world(ARMCI_Group *out);
int PARMCI_Absolute_id(ARMCI_Group *group, int group_rank);
MPI_Comm parmci_group_comm(ARMCI_Group *group);
int parmci_domain_nprocs(armci_domain_t domain, int id);
int parmci_domain_id(armci_domain_t domain, int proc);
int parmci_domain_glob_proc_id(armci_domain_t domain, int id, int local);
int parmci_domain_my_id(armci_domain_t domain);
int parmci_domain_count(armci_domain_t domain);
int parmci_domain_same_id(armci_domain_t domain, int proc);
int PARMCI_Same_node(int proc);
int parmci_msg_me(void);
int parmci_msg_nproc(void);
void parmci_msg_abort(int code);
double parmci_timer(void);
void parmci_msg_snd(int tag, void *buf, int len, int to);
void parmci_msg_rcv(int tag, void *buf, int buflen, int *msglen, int from);
int parmci_msg_rcvany(int tag, void *buf, int buflen, int *msglen);
void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group *group);
void parmci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);
void parmci_msg_bcast(void *buf, int len, int root);
void parmci_msg_brdcst(void *buf, int len, int root);
void parmci_msg_bcast_scope(int scope, void *buf, int len, int root);
void parmci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);
void parmci_msg_clus_brdcst(void *buf, int len);
void parmci_msg_reduce(void *x, int n, const char *op, int type);
void parmci_msg_reduce_scope(int scope, void *x, int n, const char *op, int type);
void parmci_msg_sel(void *x, int n, const char *op, int type, int contribute);
void parmci_msg_sel_scope(int scope, void *x, int n, const char *op, int type, int contribute);
void parmci_msg_igop(int *x, int n, const char *op);
void parmci_msg_lgop(long *x, int n, const char *op);
void parmci_msg_llgop(armci_long_long_t *x, int n, const char *op);
void parmci_msg_fgop(float *x, int n, const char *op);
void parmci_msg_dgop(double *x, int n, const char *op);
void parmci_msg_gop_scope(int scope, void *x, int n, const char *op, int type);
void parmci_msg_group_igop(int *x, int n, const char *op, ARMCI_Group *group);
void parmci_msg_group_lgop(long *x, int n, const char *op, ARMCI_Group *group);
void parmci_msg_group_llgop(armci_long_long_t *x, int n, const char *op, ARMCI_Group *group);
void parmci_msg_group_fgop(float *x, int n, const char *op, ARMCI_Group *group);
void parmci_msg_group_dgop(double *x, int n, const char *op, ARMCI_Group *group);
void parmci_msg_group_gop_scope(int scope, void *x, int n, const char *op, int type, ARMCI_Group *group);
void parmci_msg_clus_igop(int *x, int n, const char *op);
void parmci_msg_clus_lgop(long *x, int n, const char *op);
void parmci_msg_clus_llgop(armci_long_long_t *x, int n, const char *op);
void parmci_msg_clus_fgop(float *x, int n, const char *op);
void parmci_msg_clus_dgop(double *x, int n, const char *op);
void parmci_exchange_address(void *ptr[], int n);
void parmci_exchange_address_grp(void *ptr[], int n, ARMCI_Group *group);
void parmci_read_strided(void *ptr, int stride_levels, int stride[], int count[], char *buf);
void parmci_write_strided(void *ptr, int stride_levels, int stride[], int count[], char *buf);
int PARMCIX_Put(const void *src, void *dst, size_t bytes, int proc);
int PARMCIX_Get(const void *src, void *dst, size_t bytes, int proc);
int PARMCIX_Acc(int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc);
int PARMCIX_PutS(const void *src, const ptrdiff_t *src_stride, void *dst, const ptrdiff_t *dst_stride,
                 const size_t *count, int stride_levels, int proc);
int PARMCIX_GetS(const void *src, const ptrdiff_t *src_stride, void *dst, const ptrdiff_t *dst_stride,
                 const size_t *count, int stride_levels, int proc);
int PARMCIX_AccS(int datatype, const void *scale, const void *src, const ptrdiff_t *src_stride, void *dst,
                 const ptrdiff_t *dst_stride, const size_t *count, int stride_levels, int proc);
int PARMCIX_PutV(const armcix_giov_t *iov, size_t len, int proc);
int PARMCIX_GetV(const armcix_giov_t *iov, size_t len, int proc);
int PARMCIX_AccV(int datatype, const void *scale, const armcix_giov_t *iov, size_t len, int proc);
int PARMCIX_NbPut(const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl);
int PARMCIX_NbGet(const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl);
int PARMCIX_NbAcc(int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc,
                  armci_hdl_t *hdl);
int PARMCIX_NbPutS(const void *src, const ptrdiff_t *src_stride, void *dst, const ptrdiff_t *dst_stride,
                   const size_t *count, int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCIX_NbGetS(const void *src, const ptrdiff_t *src_stride, void *dst, const ptrdiff_t *dst_stride,
                   const size_t *count, int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCIX_NbAccS(int datatype, const void *scale, const void *src, const ptrdiff_t *src_stride, void *dst,
                   const ptrdiff_t *dst_stride, const size_t *count, int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCIX_NbPutV(const armcix_giov_t *iov, size_t len, int proc, armci_hdl_t *hdl);
int PARMCIX_NbGetV(const armcix_giov_t *iov, size_t len, int proc, armci_hdl_t *hdl);
int PARMCIX_NbAccV(int datatype, const void *scale, const armcix_giov_t *iov, size_t len, int proc, armci_hdl_t *hdl);
int PARMCIX_Rmw(armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare,
                void *remote, int proc);
int PARMCIX_NbRmw(armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare,
                  void *remote, int proc, armci_hdl_t *hdl);
int PARMCIX_Put_signal(const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value,
                       armcix_signal_op_t op, int proc);
int PARMCIX_NbPut_signal(const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value,
                         armcix_signal_op_t op, int proc, armci_hdl_t *hdl);
int PARMCIX_Signal_wait(uint64_t *signal, armcix_cmp_t cmp, uint64_t value, uint64_t *seen);
int PARMCIX_Signal_test(uint64_t *signal, armcix_cmp_t cmp, uint64_t value, uint64_t *seen, int *satisfied);
armcix_mutex_hdl_t PARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group);
int PARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);
void PARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int PARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void PARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int PARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *out);
int PARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *out);
int PARMCIX_Progress(void);
void *PARMCIX_Ptr(int proc, const void *addr);
int PARMCIX_Region_mode(void *base, armcix_mode_t mode, ARMCI_Group *group);
const char *PARMCIX_Implementation(void);
int PARMCIX_Version(int *major, int *minor, int *patch);
uint64_t PARMCIX_Capabilities(void);
int PARMCIX_Query_thread(int *provided);
int PARMCIX_Stats_get(armcix_stats_t *out);
int PARMCIX_Stats_call(const char *call_name, armcix_call_stats_t *out);
void PARMCIX_Stats_reset(void);
int PARMCIX_Setting(int index, armcix_setting_t *out);
int PARMCIX_Finding(int index, armcix_finding_t *out);
int PARMCIX_Choice(int index, armcix_choice_t *out);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_PARMCI_H_ */
