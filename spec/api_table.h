// The API table: every public function, once. From it come the entry points with their checks, the profiling names,
// call numbers and names of statistics (impl/api). generate.py makes parmci.h and the list of exported symbols of it.
// CONTRIBUTING.md has the steps of a new function.
//
// Row: X(return type, strong profiling name, weak public name, (parameters), (arguments))
#pragma once

// Start and end.
#define ARMCI_API_START(X)                                                                                 \
  X(int, PARMCI_Init, ARMCI_Init, (void), ())                                                              \
  X(int, PARMCI_Init_args, ARMCI_Init_args, (int *argc, char ***argv), (argc, argv))                       \
  X(int, PARMCI_Init_thread, ARMCI_Init_thread, (int required), (required))                                \
  X(int, PARMCI_Init_thread_comm, ARMCI_Init_thread_comm, (int required, MPI_Comm comm), (required, comm)) \
  X(int, PARMCI_Init_mpi_comm, ARMCI_Init_mpi_comm, (MPI_Comm comm), (comm))                               \
  X(int, PARMCIX_Init_comm_f, ARMCIX_Init_comm_f, (int required, MPI_Fint comm), (required, comm))         \
  X(int, PARMCI_Initialized, ARMCI_Initialized, (void), ())                                                \
  X(int, PARMCI_Finalize, ARMCI_Finalize, (void), ())                                                      \
  X(void, PARMCI_Cleanup, ARMCI_Cleanup, (void), ())                                                       \
  X(void, PARMCI_Error, ARMCI_Error, (const char *msg, int code), (msg, code))

// Memory.
#define ARMCI_API_MEMORY(X)                                                                                  \
  X(int, PARMCI_Malloc, ARMCI_Malloc, (void *ptr[], armci_size_t bytes), (ptr, bytes))                       \
  X(int, PARMCI_Free, ARMCI_Free, (void *ptr), (ptr))                                                        \
  X(void *, PARMCI_Malloc_local, ARMCI_Malloc_local, (armci_size_t bytes), (bytes))                          \
  X(int, PARMCI_Free_local, ARMCI_Free_local, (void *ptr), (ptr))                                            \
  X(int, PARMCI_Malloc_group, ARMCI_Malloc_group, (void *ptr[], armci_size_t bytes, ARMCI_Group *group),     \
    (ptr, bytes, group))                                                                                     \
  X(int, PARMCI_Free_group, ARMCI_Free_group, (void *ptr, ARMCI_Group *group), (ptr, group))                 \
  X(int, PARMCI_Malloc_memdev, ARMCI_Malloc_memdev, (void *ptr[], armci_size_t bytes, const char *device),   \
    (ptr, bytes, device))                                                                                    \
  X(int, PARMCI_Malloc_group_memdev, ARMCI_Malloc_group_memdev,                                              \
    (void *ptr[], armci_size_t bytes, ARMCI_Group *group, const char *device), (ptr, bytes, group, device))  \
  X(int, PARMCI_Free_memdev, ARMCI_Free_memdev, (void *ptr), (ptr))                                          \
  X(int, PARMCI_Memget, ARMCI_Memget, (size_t bytes, armci_meminfo_t * info, int flag), (bytes, info, flag)) \
  X(void *, PARMCI_Memat, ARMCI_Memat, (armci_meminfo_t * info, long offset), (info, offset))                \
  X(void, PARMCI_Memdt, ARMCI_Memdt, (armci_meminfo_t * info, int flag), (info, flag))                       \
  X(void, PARMCI_Memctl, ARMCI_Memctl, (armci_meminfo_t * info), (info))                                     \
  X(void, PARMCI_Copy, ARMCI_Copy, (void *src, void *dst, int n), (src, dst, n))                             \
  X(int, PARMCI_Uses_shm, ARMCI_Uses_shm, (void), ())                                                        \
  X(int, PARMCI_Uses_shm_grp, ARMCI_Uses_shm_grp, (ARMCI_Group * group), (group))                            \
  X(void, PARMCI_Set_shm_limit, ARMCI_Set_shm_limit, (unsigned long bytes), (bytes))                         \
  X(void, PARMCI_Access_begin, ARMCI_Access_begin, (void *ptr), (ptr))                                       \
  X(void, PARMCI_Access_end, ARMCI_Access_end, (void *ptr), (ptr))

// Transfers.
#define ARMCI_API_TRANSFER(X)                                                                                        \
  X(int, PARMCI_Put, ARMCI_Put, (void *src, void *dst, int bytes, int proc), (src, dst, bytes, proc))                \
  X(int, PARMCI_Get, ARMCI_Get, (void *src, void *dst, int bytes, int proc), (src, dst, bytes, proc))                \
  X(int, PARMCI_Acc, ARMCI_Acc, (int datatype, void *scale, void *src, void *dst, int bytes, int proc),              \
    (datatype, scale, src, dst, bytes, proc))                                                                        \
  X(int, PARMCI_PutS, ARMCI_PutS,                                                                                    \
    (void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc),            \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc))                                                  \
  X(int, PARMCI_GetS, ARMCI_GetS,                                                                                    \
    (void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc),            \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc))                                                  \
  X(int, PARMCI_AccS, ARMCI_AccS,                                                                                    \
    (int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],               \
     int stride_levels, int proc),                                                                                   \
    (datatype, scale, src, src_stride, dst, dst_stride, count, stride_levels, proc))                                 \
  X(int, PARMCI_PutV, ARMCI_PutV, (armci_giov_t iov[], int len, int proc), (iov, len, proc))                         \
  X(int, PARMCI_GetV, ARMCI_GetV, (armci_giov_t iov[], int len, int proc), (iov, len, proc))                         \
  X(int, PARMCI_AccV, ARMCI_AccV, (int datatype, void *scale, armci_giov_t iov[], int len, int proc),                \
    (datatype, scale, iov, len, proc))                                                                               \
  X(int, PARMCI_NbPut, ARMCI_NbPut, (void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl),                   \
    (src, dst, bytes, proc, hdl))                                                                                    \
  X(int, PARMCI_NbGet, ARMCI_NbGet, (void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl),                   \
    (src, dst, bytes, proc, hdl))                                                                                    \
  X(int, PARMCI_NbAcc, ARMCI_NbAcc,                                                                                  \
    (int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl),                        \
    (datatype, scale, src, dst, bytes, proc, hdl))                                                                   \
  X(int, PARMCI_NbPutS, ARMCI_NbPutS,                                                                                \
    (void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,             \
     armci_hdl_t *hdl),                                                                                              \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                                             \
  X(int, PARMCI_NbGetS, ARMCI_NbGetS,                                                                                \
    (void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,             \
     armci_hdl_t *hdl),                                                                                              \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                                             \
  X(int, PARMCI_NbAccS, ARMCI_NbAccS,                                                                                \
    (int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],               \
     int stride_levels, int proc, armci_hdl_t *hdl),                                                                 \
    (datatype, scale, src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                            \
  X(int, PARMCI_NbPutV, ARMCI_NbPutV, (armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl),                     \
    (iov, len, proc, hdl))                                                                                           \
  X(int, PARMCI_NbGetV, ARMCI_NbGetV, (armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl),                     \
    (iov, len, proc, hdl))                                                                                           \
  X(int, PARMCI_NbAccV, ARMCI_NbAccV,                                                                                \
    (int datatype, void *scale, armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl),                            \
    (datatype, scale, iov, len, proc, hdl))                                                                          \
  X(int, PARMCI_Put_flag, ARMCI_Put_flag, (void *src, void *dst, int bytes, int *flag, int value, int proc),         \
    (src, dst, bytes, flag, value, proc))                                                                            \
  X(int, PARMCI_PutS_flag, ARMCI_PutS_flag,                                                                          \
    (void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int *flag, int value, \
     int proc),                                                                                                      \
    (src, src_stride, dst, dst_stride, count, stride_levels, flag, value, proc))                                     \
  X(int, PARMCI_PutValueInt, ARMCI_PutValueInt, (int value, void *dst, int proc), (value, dst, proc))                \
  X(int, PARMCI_PutValueLong, ARMCI_PutValueLong, (long value, void *dst, int proc), (value, dst, proc))             \
  X(int, PARMCI_PutValueFloat, ARMCI_PutValueFloat, (float value, void *dst, int proc), (value, dst, proc))          \
  X(int, PARMCI_PutValueDouble, ARMCI_PutValueDouble, (double value, void *dst, int proc), (value, dst, proc))       \
  X(int, PARMCI_NbPutValueInt, ARMCI_NbPutValueInt, (int value, void *dst, int proc, armci_hdl_t *hdl),              \
    (value, dst, proc, hdl))                                                                                         \
  X(int, PARMCI_NbPutValueLong, ARMCI_NbPutValueLong, (long value, void *dst, int proc, armci_hdl_t *hdl),           \
    (value, dst, proc, hdl))                                                                                         \
  X(int, PARMCI_NbPutValueFloat, ARMCI_NbPutValueFloat, (float value, void *dst, int proc, armci_hdl_t *hdl),        \
    (value, dst, proc, hdl))                                                                                         \
  X(int, PARMCI_NbPutValueDouble, ARMCI_NbPutValueDouble, (double value, void *dst, int proc, armci_hdl_t *hdl),     \
    (value, dst, proc, hdl))                                                                                         \
  X(int, PARMCI_GetValueInt, ARMCI_GetValueInt, (void *src, int proc), (src, proc))                                  \
  X(long, PARMCI_GetValueLong, ARMCI_GetValueLong, (void *src, int proc), (src, proc))                               \
  X(float, PARMCI_GetValueFloat, ARMCI_GetValueFloat, (void *src, int proc), (src, proc))                            \
  X(double, PARMCI_GetValueDouble, ARMCI_GetValueDouble, (void *src, int proc), (src, proc))

// Completion and fences.
#define ARMCI_API_COMPLETE(X)                                                                      \
  X(void, PARMCI_INIT_HANDLE, ARMCI_INIT_HANDLE, (armci_hdl_t * hdl), (hdl))                       \
  X(void, PARMCI_SET_AGGREGATE_HANDLE, ARMCI_SET_AGGREGATE_HANDLE, (armci_hdl_t * hdl), (hdl))     \
  X(void, PARMCI_UNSET_AGGREGATE_HANDLE, ARMCI_UNSET_AGGREGATE_HANDLE, (armci_hdl_t * hdl), (hdl)) \
  X(int, PARMCI_Wait, ARMCI_Wait, (armci_hdl_t * hdl), (hdl))                                      \
  X(int, PARMCI_Test, ARMCI_Test, (armci_hdl_t * hdl), (hdl))                                      \
  X(int, PARMCI_WaitProc, ARMCI_WaitProc, (int proc), (proc))                                      \
  X(int, PARMCI_WaitAll, ARMCI_WaitAll, (void), ())                                                \
  X(void, PARMCI_Fence, ARMCI_Fence, (int proc), (proc))                                           \
  X(void, PARMCI_AllFence, ARMCI_AllFence, (void), ())                                             \
  X(void, PARMCI_GroupFence, ARMCI_GroupFence, (ARMCI_Group * group), (group))                     \
  X(void, PARMCI_Barrier, ARMCI_Barrier, (void), ())                                               \
  X(void, PARMCI_Poll, ARMCI_Poll, (void), ())

// Atomics, mutexes, notification.
#define ARMCI_API_ATOMIC(X)                                                                                           \
  X(int, PARMCI_Rmw, ARMCI_Rmw, (int op, void *ploc, void *prem, int extra, int proc), (op, ploc, prem, extra, proc)) \
  X(int, PARMCI_Create_mutexes, ARMCI_Create_mutexes, (int n), (n))                                                   \
  X(int, PARMCI_Destroy_mutexes, ARMCI_Destroy_mutexes, (void), ())                                                   \
  X(void, PARMCI_Lock, ARMCI_Lock, (int mutex, int proc), (mutex, proc))                                              \
  X(void, PARMCI_Unlock, ARMCI_Unlock, (int mutex, int proc), (mutex, proc))                                          \
  X(int, parmci_notify, armci_notify, (int proc), (proc))                                                             \
  X(int, parmci_notify_wait, armci_notify_wait, (int proc, int *pval), (proc, pval))

// Groups and locality.
#define ARMCI_API_GROUP(X)                                                                                  \
  X(void, PARMCI_Group_create, ARMCI_Group_create, (int n, int pids[], ARMCI_Group *out), (n, pids, out))   \
  X(void, PARMCI_Group_create_child, ARMCI_Group_create_child,                                              \
    (int n, int pids[], ARMCI_Group *out, ARMCI_Group *parent), (n, pids, out, parent))                     \
  X(void, PARMCI_Group_free, ARMCI_Group_free, (ARMCI_Group * group), (group))                              \
  X(int, PARMCI_Group_rank, ARMCI_Group_rank, (ARMCI_Group * group, int *rank), (group, rank))              \
  X(void, PARMCI_Group_size, ARMCI_Group_size, (ARMCI_Group * group, int *size), (group, size))             \
  X(void, PARMCI_Group_set_default, ARMCI_Group_set_default, (ARMCI_Group * group), (group))                \
  X(void, PARMCI_Group_get_default, ARMCI_Group_get_default, (ARMCI_Group * out), (out))                    \
  X(void, PARMCI_Group_get_world, ARMCI_Group_get_world, (ARMCI_Group * out), (out))                        \
  X(int, PARMCI_Absolute_id, ARMCI_Absolute_id, (ARMCI_Group * group, int group_rank), (group, group_rank)) \
  X(int, PARMCIX_Group_comm_f, ARMCIX_Group_comm_f, (ARMCI_Group * group, MPI_Fint * comm), (group, comm))  \
  X(MPI_Comm, parmci_group_comm, armci_group_comm, (ARMCI_Group * group), (group))                          \
  X(int, parmci_domain_nprocs, armci_domain_nprocs, (armci_domain_t domain, int id), (domain, id))          \
  X(int, parmci_domain_id, armci_domain_id, (armci_domain_t domain, int proc), (domain, proc))              \
  X(int, parmci_domain_glob_proc_id, armci_domain_glob_proc_id, (armci_domain_t domain, int id, int local), \
    (domain, id, local))                                                                                    \
  X(int, parmci_domain_my_id, armci_domain_my_id, (armci_domain_t domain), (domain))                        \
  X(int, parmci_domain_count, armci_domain_count, (armci_domain_t domain), (domain))                        \
  X(int, parmci_domain_same_id, armci_domain_same_id, (armci_domain_t domain, int proc), (domain, proc))    \
  X(int, PARMCI_Same_node, ARMCI_Same_node, (int proc), (proc))

// Messages.
#define ARMCI_API_MESSAGE(X)                                                                                        \
  X(int, parmci_msg_me, armci_msg_me, (void), ())                                                                   \
  X(int, parmci_msg_nproc, armci_msg_nproc, (void), ())                                                             \
  X(void, parmci_msg_abort, armci_msg_abort, (int code), (code))                                                    \
  X(double, parmci_timer, armci_timer, (void), ())                                                                  \
  X(void, parmci_msg_snd, armci_msg_snd, (int tag, void *buf, int len, int to), (tag, buf, len, to))                \
  X(void, parmci_msg_rcv, armci_msg_rcv, (int tag, void *buf, int buflen, int *msglen, int from),                   \
    (tag, buf, buflen, msglen, from))                                                                               \
  X(int, parmci_msg_rcvany, armci_msg_rcvany, (int tag, void *buf, int buflen, int *msglen),                        \
    (tag, buf, buflen, msglen))                                                                                     \
  X(void, parmci_msg_barrier, armci_msg_barrier, (void), ())                                                        \
  X(void, parmci_msg_group_barrier, armci_msg_group_barrier, (ARMCI_Group * group), (group))                        \
  X(void, parmci_msg_bintree, armci_msg_bintree, (int scope, int *Root, int *Up, int *Left, int *Right),            \
    (scope, Root, Up, Left, Right))                                                                                 \
  X(void, parmci_msg_bcast, armci_msg_bcast, (void *buf, int len, int root), (buf, len, root))                      \
  X(void, parmci_msg_brdcst, armci_msg_brdcst, (void *buf, int len, int root), (buf, len, root))                    \
  X(void, parmci_msg_bcast_scope, armci_msg_bcast_scope, (int scope, void *buf, int len, int root),                 \
    (scope, buf, len, root))                                                                                        \
  X(void, parmci_msg_group_bcast_scope, armci_msg_group_bcast_scope,                                                \
    (int scope, void *buf, int len, int root, ARMCI_Group *group), (scope, buf, len, root, group))                  \
  X(void, parmci_msg_clus_brdcst, armci_msg_clus_brdcst, (void *buf, int len), (buf, len))                          \
  X(void, parmci_msg_reduce, armci_msg_reduce, (void *x, int n, const char *op, int type), (x, n, op, type))        \
  X(void, parmci_msg_reduce_scope, armci_msg_reduce_scope, (int scope, void *x, int n, const char *op, int type),   \
    (scope, x, n, op, type))                                                                                        \
  X(void, parmci_msg_sel, armci_msg_sel, (void *x, int n, const char *op, int type, int contribute),                \
    (x, n, op, type, contribute))                                                                                   \
  X(void, parmci_msg_sel_scope, armci_msg_sel_scope,                                                                \
    (int scope, void *x, int n, const char *op, int type, int contribute), (scope, x, n, op, type, contribute))     \
  X(void, parmci_msg_igop, armci_msg_igop, (int x[], int n, const char *op), (x, n, op))                            \
  X(void, parmci_msg_lgop, armci_msg_lgop, (long x[], int n, const char *op), (x, n, op))                           \
  X(void, parmci_msg_llgop, armci_msg_llgop, (armci_long_long_t x[], int n, const char *op), (x, n, op))            \
  X(void, parmci_msg_fgop, armci_msg_fgop, (float x[], int n, const char *op), (x, n, op))                          \
  X(void, parmci_msg_dgop, armci_msg_dgop, (double x[], int n, const char *op), (x, n, op))                         \
  X(void, parmci_msg_gop_scope, armci_msg_gop_scope, (int scope, void *x, int n, const char *op, int type),         \
    (scope, x, n, op, type))                                                                                        \
  X(void, parmci_msg_group_igop, armci_msg_group_igop, (int x[], int n, const char *op, ARMCI_Group *group),        \
    (x, n, op, group))                                                                                              \
  X(void, parmci_msg_group_lgop, armci_msg_group_lgop, (long x[], int n, const char *op, ARMCI_Group *group),       \
    (x, n, op, group))                                                                                              \
  X(void, parmci_msg_group_llgop, armci_msg_group_llgop,                                                            \
    (armci_long_long_t x[], int n, const char *op, ARMCI_Group *group), (x, n, op, group))                          \
  X(void, parmci_msg_group_fgop, armci_msg_group_fgop, (float x[], int n, const char *op, ARMCI_Group *group),      \
    (x, n, op, group))                                                                                              \
  X(void, parmci_msg_group_dgop, armci_msg_group_dgop, (double x[], int n, const char *op, ARMCI_Group *group),     \
    (x, n, op, group))                                                                                              \
  X(void, parmci_msg_group_gop_scope, armci_msg_group_gop_scope,                                                    \
    (int scope, void *x, int n, const char *op, int type, ARMCI_Group *group), (scope, x, n, op, type, group))      \
  X(void, parmci_msg_clus_igop, armci_msg_clus_igop, (int x[], int n, const char *op), (x, n, op))                  \
  X(void, parmci_msg_clus_lgop, armci_msg_clus_lgop, (long x[], int n, const char *op), (x, n, op))                 \
  X(void, parmci_msg_clus_llgop, armci_msg_clus_llgop, (armci_long_long_t x[], int n, const char *op), (x, n, op))  \
  X(void, parmci_msg_clus_fgop, armci_msg_clus_fgop, (float x[], int n, const char *op), (x, n, op))                \
  X(void, parmci_msg_clus_dgop, armci_msg_clus_dgop, (double x[], int n, const char *op), (x, n, op))               \
  X(void, parmci_exchange_address, armci_exchange_address, (void *ptr[], int n), (ptr, n))                          \
  X(void, parmci_exchange_address_grp, armci_exchange_address_grp, (void *ptr[], int n, ARMCI_Group *group),        \
    (ptr, n, group))                                                                                                \
  X(void, parmci_read_strided, armci_read_strided,                                                                  \
    (void *ptr, int stride_levels, int stride[], int count[], char *buf), (ptr, stride_levels, stride, count, buf)) \
  X(void, parmci_write_strided, armci_write_strided,                                                                \
    (void *ptr, int stride_levels, int stride[], int count[], char *buf), (ptr, stride_levels, stride, count, buf))

// Extensions: transfers with 64-bit sizes.
#define ARMCI_API_TRANSFER64(X)                                                                                    \
  X(int, PARMCIX_Put, ARMCIX_Put, (const void *src, void *dst, size_t bytes, int proc), (src, dst, bytes, proc))   \
  X(int, PARMCIX_Get, ARMCIX_Get, (const void *src, void *dst, size_t bytes, int proc), (src, dst, bytes, proc))   \
  X(int, PARMCIX_Acc, ARMCIX_Acc,                                                                                  \
    (int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc),                         \
    (datatype, scale, src, dst, bytes, proc))                                                                      \
  X(int, PARMCIX_PutS, ARMCIX_PutS,                                                                                \
    (const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[], const size_t count[], \
     int stride_levels, int proc),                                                                                 \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc))                                                \
  X(int, PARMCIX_GetS, ARMCIX_GetS,                                                                                \
    (const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[], const size_t count[], \
     int stride_levels, int proc),                                                                                 \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc))                                                \
  X(int, PARMCIX_AccS, ARMCIX_AccS,                                                                                \
    (int datatype, const void *scale, const void *src, const ptrdiff_t src_stride[], void *dst,                    \
     const ptrdiff_t dst_stride[], const size_t count[], int stride_levels, int proc),                             \
    (datatype, scale, src, src_stride, dst, dst_stride, count, stride_levels, proc))                               \
  X(int, PARMCIX_PutV, ARMCIX_PutV, (const armcix_giov_t iov[], size_t len, int proc), (iov, len, proc))           \
  X(int, PARMCIX_GetV, ARMCIX_GetV, (const armcix_giov_t iov[], size_t len, int proc), (iov, len, proc))           \
  X(int, PARMCIX_AccV, ARMCIX_AccV,                                                                                \
    (int datatype, const void *scale, const armcix_giov_t iov[], size_t len, int proc),                            \
    (datatype, scale, iov, len, proc))                                                                             \
  X(int, PARMCIX_NbPut, ARMCIX_NbPut, (const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl),      \
    (src, dst, bytes, proc, hdl))                                                                                  \
  X(int, PARMCIX_NbGet, ARMCIX_NbGet, (const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl),      \
    (src, dst, bytes, proc, hdl))                                                                                  \
  X(int, PARMCIX_NbAcc, ARMCIX_NbAcc,                                                                              \
    (int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl),       \
    (datatype, scale, src, dst, bytes, proc, hdl))                                                                 \
  X(int, PARMCIX_NbPutS, ARMCIX_NbPutS,                                                                            \
    (const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[], const size_t count[], \
     int stride_levels, int proc, armci_hdl_t *hdl),                                                               \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                                           \
  X(int, PARMCIX_NbGetS, ARMCIX_NbGetS,                                                                            \
    (const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[], const size_t count[], \
     int stride_levels, int proc, armci_hdl_t *hdl),                                                               \
    (src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                                           \
  X(int, PARMCIX_NbAccS, ARMCIX_NbAccS,                                                                            \
    (int datatype, const void *scale, const void *src, const ptrdiff_t src_stride[], void *dst,                    \
     const ptrdiff_t dst_stride[], const size_t count[], int stride_levels, int proc, armci_hdl_t *hdl),           \
    (datatype, scale, src, src_stride, dst, dst_stride, count, stride_levels, proc, hdl))                          \
  X(int, PARMCIX_NbPutV, ARMCIX_NbPutV, (const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl),       \
    (iov, len, proc, hdl))                                                                                         \
  X(int, PARMCIX_NbGetV, ARMCIX_NbGetV, (const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl),       \
    (iov, len, proc, hdl))                                                                                         \
  X(int, PARMCIX_NbAccV, ARMCIX_NbAccV,                                                                            \
    (int datatype, const void *scale, const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl),          \
    (datatype, scale, iov, len, proc, hdl))

// Extensions: atomics, signals, mutex sets, groups.
#define ARMCI_API_EXTENSION(X)                                                                                       \
  X(int, PARMCIX_Rmw, ARMCIX_Rmw,                                                                                    \
    (armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare, void *remote,       \
     int proc),                                                                                                      \
    (op, type, result, operand, compare, remote, proc))                                                              \
  X(int, PARMCIX_NbRmw, ARMCIX_NbRmw,                                                                                \
    (armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare, void *remote,       \
     int proc, armci_hdl_t *hdl),                                                                                    \
    (op, type, result, operand, compare, remote, proc, hdl))                                                         \
  X(int, PARMCIX_Put_signal, ARMCIX_Put_signal,                                                                      \
    (const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value, armcix_signal_op_t op, int proc),   \
    (src, dst, bytes, signal, value, op, proc))                                                                      \
  X(int, PARMCIX_NbPut_signal, ARMCIX_NbPut_signal,                                                                  \
    (const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value, armcix_signal_op_t op, int proc,    \
     armci_hdl_t *hdl),                                                                                              \
    (src, dst, bytes, signal, value, op, proc, hdl))                                                                 \
  X(int, PARMCIX_Signal_wait, ARMCIX_Signal_wait,                                                                    \
    (uint64_t * signal, armcix_cmp_t cmp, uint64_t value, uint64_t * seen), (signal, cmp, value, seen))              \
  X(int, PARMCIX_Signal_wait_all, ARMCIX_Signal_wait_all,                                                            \
    (uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value),                          \
    (signals, count, skip, cmp, value))                                                                              \
  X(int, PARMCIX_Signal_wait_any, ARMCIX_Signal_wait_any,                                                            \
    (uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value, size_t *which),           \
    (signals, count, skip, cmp, value, which))                                                                       \
  X(int, PARMCIX_Signal_wait_some, ARMCIX_Signal_wait_some,                                                          \
    (uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value, size_t which[],           \
     size_t *found),                                                                                                 \
    (signals, count, skip, cmp, value, which, found))                                                                \
  X(int, PARMCIX_Signal_test, ARMCIX_Signal_test,                                                                    \
    (uint64_t * signal, armcix_cmp_t cmp, uint64_t value, uint64_t * seen, int *satisfied),                          \
    (signal, cmp, value, seen, satisfied))                                                                           \
  X(armcix_mutex_hdl_t, PARMCIX_Create_mutexes_hdl, ARMCIX_Create_mutexes_hdl, (int count, ARMCI_Group *group),      \
    (count, group))                                                                                                  \
  X(int, PARMCIX_Destroy_mutexes_hdl, ARMCIX_Destroy_mutexes_hdl, (armcix_mutex_hdl_t hdl), (hdl))                   \
  X(void, PARMCIX_Lock_hdl, ARMCIX_Lock_hdl, (armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc))      \
  X(int, PARMCIX_Trylock_hdl, ARMCIX_Trylock_hdl, (armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc)) \
  X(void, PARMCIX_Unlock_hdl, ARMCIX_Unlock_hdl, (armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc))  \
  X(int, PARMCIX_Group_split, ARMCIX_Group_split, (ARMCI_Group * parent, int color, int key, ARMCI_Group *out),      \
    (parent, color, key, out))                                                                                       \
  X(int, PARMCIX_Group_dup, ARMCIX_Group_dup, (ARMCI_Group * parent, ARMCI_Group * out), (parent, out))

// Extensions: progress, addresses, modes, introspection.
#define ARMCI_API_INTROSPECTION(X)                                                                                   \
  X(int, PARMCIX_Progress, ARMCIX_Progress, (void), ())                                                              \
  X(void *, PARMCIX_Ptr, ARMCIX_Ptr, (int proc, const void *addr), (proc, addr))                                     \
  X(int, PARMCIX_Region_mode, ARMCIX_Region_mode, (void *base, armcix_mode_t mode, ARMCI_Group *group),              \
    (base, mode, group))                                                                                             \
  X(const char *, PARMCIX_Implementation, ARMCIX_Implementation, (void), ())                                         \
  X(int, PARMCIX_Version, ARMCIX_Version, (int *major, int *minor, int *patch), (major, minor, patch))               \
  X(uint64_t, PARMCIX_Capabilities, ARMCIX_Capabilities, (void), ())                                                 \
  X(int, PARMCIX_Query_thread, ARMCIX_Query_thread, (int *provided), (provided))                                     \
  X(int, PARMCIX_Stats_get, ARMCIX_Stats_get, (armcix_stats_t * out), (out))                                         \
  X(int, PARMCIX_Stats_call, ARMCIX_Stats_call, (const char *call_name, armcix_call_stats_t *out), (call_name, out)) \
  X(void, PARMCIX_Stats_reset, ARMCIX_Stats_reset, (void), ())                                                       \
  X(int, PARMCIX_Setting, ARMCIX_Setting, (int index, armcix_setting_t *out), (index, out))                          \
  X(int, PARMCIX_Finding, ARMCIX_Finding, (int index, armcix_finding_t *out), (index, out))                          \
  X(int, PARMCIX_Choice, ARMCIX_Choice, (int index, armcix_choice_t *out), (index, out))

#define ARMCI_API_ALL(X)  \
  ARMCI_API_START(X)      \
  ARMCI_API_MEMORY(X)     \
  ARMCI_API_TRANSFER(X)   \
  ARMCI_API_COMPLETE(X)   \
  ARMCI_API_ATOMIC(X)     \
  ARMCI_API_GROUP(X)      \
  ARMCI_API_MESSAGE(X)    \
  ARMCI_API_TRANSFER64(X) \
  ARMCI_API_EXTENSION(X)  \
  ARMCI_API_INTROSPECTION(X)
