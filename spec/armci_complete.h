/* armci_complete.h - handles, completion, fences and the barrier. Included by armci.h, whose conventions hold here.
 *
 * Wait and test give local completion: the origin may reuse the buffer. Only a fence gives remote completion: the
 * effect is visible to every process [CMPL-7]. All calls are T-any; a handle is used by one thread at a time.
 */
#ifndef ARMCI_SPEC_ARMCI_COMPLETE_H_
#define ARMCI_SPEC_ARMCI_COMPLETE_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes *hdl a handle with nothing outstanding, from any content. Every handle starts with this, or as zero bytes; not
 * on one that carries an operation. Local, not blocking.
 * Clauses: CMPL-5, COMPAT-4. Source: [ARMCI 4.1]. */
void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);

/* Lets the library hold the puts (or gets) that use *hdl from now on and issue them together. Operations to one
 * target and of one kind gain by this; others are legal and lose the gain. Shapes may mix. Local buffers belong to the
 * library until ARMCI_Wait; before that wait, nothing is promised. Local, not blocking.
 * Clauses: AGG-1, AGG-2. Source: [ARMCI 4.2]. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl);

/* Returns *hdl to normal use; the held operations are issued, and still need a wait. Local, not blocking.
 * Clauses: AGG-3. Source: [ARMCI 4.2]. */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl);

/* Returns when every operation of *hdl is locally complete; at once when there is none. The handle can be used again.
 * NULL waits for all implicit operations of the origin. Local, blocking, in bounded time.
 * Clauses: CMPL-3, CMPL-5, CMPL-7, AGG-1, COMPAT-3. Source: [ARMCI 4.1]. */
int ARMCI_Wait(armci_hdl_t *hdl);

/* 0 (ARMCI_OK) when every operation of *hdl is locally complete or there is none, ARMCI_PENDING when not. Never blocks,
 * and repeated calls end in 0 without action by the target. Note that 0 means complete. Local.
 * Errors: ARMCI_ERR_NULL.
 * Clauses: CMPL-3, CMPL-5. Source: [ARMCI 4.1], [impl]. */
int ARMCI_Test(armci_hdl_t *hdl);

/* Returns when all non-blocking operations of the origin to proc, implicit and explicit, are locally complete. Local,
 * blocking.
 * Clauses: CMPL-4. Source: [ARMCI 4.1]. */
int ARMCI_WaitProc(int proc);

/* ARMCI_WaitProc for all targets. Local, blocking.
 * Clauses: CMPL-4. Source: [ARMCI 4.1]. */
int ARMCI_WaitAll(void);

/* Returns when every store of the origin to proc issued before, blocking, non-blocking or aggregate, is remotely
 * complete; local buffers may be reused. At once when there is none. Local, blocking, no action by proc.
 * Ordering: a full barrier for the origin: its earlier stores to proc are visible to every process before anything that
 * the origin reads or stores afterwards; later loads and gets are not satisfied before it.
 * Clauses: FENCE-1, FENCE-3, FENCE-6. Source: [ARMCI 2.3]. */
void ARMCI_Fence(int proc);

/* ARMCI_Fence for all targets, overlapped. Local, blocking.
 * Ordering: as ARMCI_Fence, for all targets; besides, stores of others whose values the origin has read are visible
 * to every process before anything that the origin reads afterwards.
 * Clauses: FENCE-2, FENCE-7, FENCE-8. Source: [ARMCI 2.3]. */
void ARMCI_AllFence(void);

/* ARMCI_Fence for all members of the group. Local: called by one process, for itself; blocking.
 * Ordering: as ARMCI_Fence, for the members.
 * Clauses: FENCE-5. Source: [ARMCI 3.6]. */
void ARMCI_GroupFence(ARMCI_Group *group);

/* ARMCI_AllFence by all processes, then a barrier. Collective over the world, blocking, T-collective.
 * Ordering: every store issued by any process before its call is visible to every process on return, by get and by
 * load.
 * Clauses: FENCE-4. Source: [ARMCI 2.3]. */
void ARMCI_Barrier(void);

/* May make progress on outstanding operations, and lets MPI progress where this thread may call MPI. No operation of
 * this library needs this call. Local, not blocking.
 * Clauses: PROG-4, PROG-5. Source: [98], [here]. */
void ARMCI_Poll(void);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_COMPLETE_H_ */
