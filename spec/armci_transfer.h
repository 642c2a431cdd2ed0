/* armci_transfer.h - put, get and accumulate in every shape. Included by armci.h, whose conventions C1..C16 hold here.
 *
 * All calls are local, T-any, and follow C5 (buffers), C6 (addresses), C8 and C9 (shapes), C10 (nothing to move) and
 * C11 (ordering); none needs an action by the target [PROG-1]. Pointers to data are not const only because programs
 * have always been compiled so: sources, strides, counts and descriptors are never written.
 */
#ifndef ARMCI_SPEC_ARMCI_TRANSFER_H_
#define ARMCI_SPEC_ARMCI_TRANSFER_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CONTIGUOUS, BLOCKING */

/* Copies `bytes` from local src to dst at proc. Blocking: src may be overwritten on return.
 * Clauses: XFER-1 to XFER-4, CMPL-1, ORD-1. Source: [ARMCI 3.1]. */
int ARMCI_Put(void *src, void *dst, int bytes, int proc);

/* Copies `bytes` from src at proc to local dst. Blocking: dst holds the data on return.
 * Clauses: XFER-1 to XFER-4, CMPL-2, ORD-4. Source: [ARMCI 3.1]. */
int ARMCI_Get(void *src, void *dst, int bytes, int proc);

/* dst[i] += *scale * src[i] at proc, for the elements of `bytes` bytes; datatype is ARMCI_ACC_INT to ARMCI_ACC_DCP and
 * scale points to one element of it. Atomic per element (per component of a complex one) against all accumulates of the
 * same type, not against put, RMW or direct stores. Blocking: src may be overwritten on return.
 * Errors: ARMCI_ERR_TYPE; ARMCI_ERR_LENGTH (not a multiple of the element); ARMCI_ERR_ALIGNMENT (dst).
 * Clauses: ACC-1 to ACC-5, CMPL-1, ORD-1. Source: [ARMCI 3.3]. */
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/* STRIDED, BLOCKING (C8) */

/* ARMCI_Put of a strided shape. A source stride may have any value; destination segments that overlap leave, byte by
 * byte, one of the values written.
 * Clauses: XFER-5, XFER-7, XFER-8, CMPL-1, ORD-1. Source: [ARMCI 3.2]. */
int ARMCI_PutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc);

/* ARMCI_Get of a strided shape; holes between the local segments stay untouched.
 * Clauses: XFER-1, XFER-5, XFER-8, CMPL-2, ORD-4. Source: [ARMCI 3.2]. */
int ARMCI_GetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc);

/* ARMCI_Acc of a strided shape; count[0] is a multiple of the element size. Overlapping segments add all.
 * Clauses: ACC-1 to ACC-5, XFER-5, XFER-7. Source: [ARMCI 3.3]. */
int ARMCI_AccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
               int stride_levels, int proc);

/* VECTOR, BLOCKING (C9) */

/* ARMCI_Put of `len` descriptors: local src_ptr_array[i] to dst_ptr_array[i] at proc.
 * Clauses: XFER-6, XFER-7, XFER-8, CMPL-1, ORD-1. Source: [ARMCI 3.2]. */
int ARMCI_PutV(armci_giov_t iov[], int len, int proc);

/* ARMCI_Get of `len` descriptors: src_ptr_array[i] at proc to local dst_ptr_array[i].
 * Clauses: XFER-6, XFER-7, XFER-8, CMPL-2, ORD-4. Source: [ARMCI 3.2]. */
int ARMCI_GetV(armci_giov_t iov[], int len, int proc);

/* ARMCI_Acc of `len` descriptors. Segments that overlap add all.
 * Clauses: ACC-1 to ACC-5, XFER-6, XFER-7. Source: [ARMCI 3.3]. */
int ARMCI_AccV(int datatype, void *scale, armci_giov_t iov[], int len, int proc);

/* NON-BLOCKING
 *
 * Each is the blocking call of its name that may return before local completion (C5). hdl, set up by
 * ARMCI_INIT_HANDLE, carries the operation until ARMCI_Wait or ARMCI_Test says it is complete, and may carry many; NULL
 * makes it implicit, for ARMCI_WaitProc and ARMCI_WaitAll. Never waits for the target; when too many operations are
 * outstanding it completes older ones first. Stores are unordered until a fence. Errors are those of the blocking call,
 * returned at once.
 * Clauses: CMPL-3 to CMPL-7, ORD-3, PROG-3, and those of the blocking call. Source: [ARMCI 4.1]. */

/* Non-blocking ARMCI_Put: src must not be written until the operation is complete. */
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_Get: dst must not be touched until the operation is complete. */
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_Acc: *scale is read at once, src must not be written until the operation is complete. */
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_PutS: strides and counts are read at once. */
int ARMCI_NbPutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,
                 armci_hdl_t *hdl);

/* Non-blocking ARMCI_GetS: strides and counts are read at once. */
int ARMCI_NbGetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int proc,
                 armci_hdl_t *hdl);

/* Non-blocking ARMCI_AccS: *scale, strides and counts are read at once. */
int ARMCI_NbAccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                 int stride_levels, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_PutV: descriptors and pointer arrays are read at once. */
int ARMCI_NbPutV(armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_GetV: descriptors and pointer arrays are read at once. */
int ARMCI_NbGetV(armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl);

/* Non-blocking ARMCI_AccV: *scale, descriptors and pointer arrays are read at once. */
int ARMCI_NbAccV(int datatype, void *scale, armci_giov_t iov[], int len, int proc, armci_hdl_t *hdl);

/* WITH A FLAG */

/* ARMCI_Put, then *flag = value at proc: flag is a remote address of an int (aligned as one). Blocking.
 * Errors: further, ARMCI_ERR_ALIGNMENT (flag).
 * Ordering: a process that sees value in the flag sees all data of the call, and all stores before it by ORD-1.
 * Clauses: ORD-5, ORD-1. Source: [impl]. */
int ARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc);

/* ARMCI_PutS, then *flag = value at proc, as above.
 * Clauses: ORD-5, ORD-1, XFER-5. Source: [impl]. */
int ARMCI_PutS_flag(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int stride_levels, int *flag,
                    int value, int proc);

/* ONE VALUE
 *
 * The value is passed in the call, so there is no local buffer to own. dst and src are remote addresses of one element
 * of the type. The put forms equal a blocking (Nb: non-blocking) put of one element, the get forms a blocking get. A
 * get form has no room for a result code: bad input goes to ARMCI_Error. Clauses: XFER-9, ORD-1, ORD-4, LC-3, ERR-2.
 * Source: [ARMCI 3.1]. */

/* Stores one int at proc. Blocking. */
int ARMCI_PutValueInt(int value, void *dst, int proc);

/* Stores one long at proc. Blocking. */
int ARMCI_PutValueLong(long value, void *dst, int proc);

/* Stores one float at proc. Blocking. */
int ARMCI_PutValueFloat(float value, void *dst, int proc);

/* Stores one double at proc. Blocking. */
int ARMCI_PutValueDouble(double value, void *dst, int proc);

/* Stores one int at proc. Non-blocking; hdl may be NULL. */
int ARMCI_NbPutValueInt(int value, void *dst, int proc, armci_hdl_t *hdl);

/* Stores one long at proc. Non-blocking; hdl may be NULL. */
int ARMCI_NbPutValueLong(long value, void *dst, int proc, armci_hdl_t *hdl);

/* Stores one float at proc. Non-blocking; hdl may be NULL. */
int ARMCI_NbPutValueFloat(float value, void *dst, int proc, armci_hdl_t *hdl);

/* Stores one double at proc. Non-blocking; hdl may be NULL. */
int ARMCI_NbPutValueDouble(double value, void *dst, int proc, armci_hdl_t *hdl);

/* Fetches one int from proc. Blocking. */
int ARMCI_GetValueInt(void *src, int proc);

/* Fetches one long from proc. Blocking. */
long ARMCI_GetValueLong(void *src, int proc);

/* Fetches one float from proc. Blocking. */
float ARMCI_GetValueFloat(void *src, int proc);

/* Fetches one double from proc. Blocking. */
double ARMCI_GetValueDouble(void *src, int proc);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_TRANSFER_H_ */
