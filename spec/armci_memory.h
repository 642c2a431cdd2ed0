/* armci_memory.h - global and local memory. Included by armci.h, whose conventions C1..C16 hold here.
 *
 * Allocation and free are collective, blocking and T-collective. On an error all processes of the group get it, and
 * everything allocated before still works [MEM-8]. Base addresses are multiples of at least 64 [MEM-5].
 */
#ifndef ARMCI_SPEC_ARMCI_MEMORY_H_
#define ARMCI_SPEC_ARMCI_MEMORY_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates a region: `bytes` of this process's own part; sizes may differ and be 0. ptr has an entry per process; on
 * return ptr[p] is the remote address of p's part on every process, NULL where p requested 0. On the caller's node
 * ptr[p] can be loaded and stored directly. Contents are unspecified. The array is the caller's; on an error it is
 * unchanged. Collective, blocking, T-collective.
 * Errors: ARMCI_ERR_LENGTH (negative), ARMCI_ERR_MEMORY (what ran out, and how to raise it).
 * Ordering: no process returns before all have called.
 * Clauses: MEM-1 to MEM-5, MEM-8, MEM-12. Source: [ARMCI 3.5]. */
int ARMCI_Malloc(void *ptr[], armci_size_t bytes);

/* Frees the region whose own part starts at ptr; NULL where that part is empty. First completes what is outstanding on
 * the region; direct access by load and store must have ended on all processes. Regions may be freed in any order.
 * Collective, blocking, T-collective.
 * Errors: ARMCI_ERR_ADDRESS (not a base address of the caller, or freed already), ARMCI_ERR_GROUP (a group's region).
 * Ordering: no process returns before all have called and their stores to the region are complete.
 * Clauses: MEM-6, MEM-7, CMPL-8. Source: [ARMCI 3.5]. */
int ARMCI_Free(void *ptr);

/* Allocates private memory that transfers use best as local buffer. NULL when there is none (or bytes is negative, with
 * the line of C4); 0 bytes may give NULL. Local.
 * Clauses: MEM-9, COMPAT-9. Source: [ARMCI 3.5]. */
void *ARMCI_Malloc_local(armci_size_t bytes);

/* Frees memory of ARMCI_Malloc_local; no operation may be using it. NULL is allowed. Local.
 * Errors: ARMCI_ERR_ADDRESS (not from ARMCI_Malloc_local, or freed already).
 * Clauses: MEM-9, COMPAT-9. Source: [ARMCI 3.5]. */
int ARMCI_Free_local(void *ptr);

/* ARMCI_Malloc over a group: ptr is indexed by group rank. Transfers, which members of the group may make,
 * still name the target by absolute id. Collective over the group.
 * Clauses: MEM-11, MEM-1 to MEM-5, MEM-8. Source: [ARMCI 3.6]. */
int ARMCI_Malloc_group(void *ptr[], armci_size_t bytes, ARMCI_Group *group);

/* ARMCI_Free for memory of ARMCI_Malloc_group, with the same group. Collective over the group.
 * Clauses: MEM-11, MEM-6. Source: [ARMCI 3.6]. */
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);

/* ARMCI_Malloc of a kind of memory named by device. NULL and names the implementation does not know give the default
 * kind, unknown ones with one warning per name. device is read during the call.
 * Clauses: MEM-13. Source: [impl]. */
int ARMCI_Malloc_memdev(void *ptr[], armci_size_t bytes, const char *device);

/* ARMCI_Malloc_group with a kind of memory, as above.
 * Clauses: MEM-13, MEM-11. Source: [impl]. */
int ARMCI_Malloc_group_memdev(void *ptr[], armci_size_t bytes, ARMCI_Group *group, const char *device);

/* ARMCI_Free for memory of ARMCI_Malloc_memdev. Collective over the world; memory of ARMCI_Malloc_group_memdev is freed
 * by ARMCI_Free_group.
 * Clauses: MEM-13, MEM-6. Source: [impl]. */
int ARMCI_Free_memdev(void *ptr);

/* Allocates `bytes` of globally accessible memory of the caller alone and describes it in *info, which the program may
 * send to others. flag is reserved: 0. Local, blocking.
 * Errors: ARMCI_ERR_MEMORY.
 * Clauses: MEM-14. Source: [98]. */
int ARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag);

/* The remote address `offset` bytes into the memory of *info, for transfers to process info->cpid; on the node of that
 * process it can be loaded and stored too. NULL, with the line of C4, when offset lies outside. Local.
 * Clauses: MEM-14, MEM-4. Source: [98]. */
void *ARMCI_Memat(armci_meminfo_t *info, long offset);

/* The owner frees the memory: no operation on it may be outstanding in any process. Another process releases what it
 * keeps for the memory. flag is reserved: 0. *info must not be used afterwards. Local.
 * Clauses: MEM-14. Source: [98]. */
void ARMCI_Memdt(armci_meminfo_t *info, int flag);

/* Kept for programs that call it; does nothing beyond checking info, and frees nothing. Local.
 * Clauses: MEM-14, COMPAT-12. Source: [98]. */
void ARMCI_Memctl(armci_meminfo_t *info);

/* Copies n bytes from src to dst, both addresses the caller can load and store; they must not overlap. Local, blocking.
 * No ordering beyond that of ordinary stores.
 * Clauses: MEM-16. Source: [98]. */
void ARMCI_Copy(void *src, void *dst, int n);

/* 1 when regions lie in memory that the processes of a node share, else 0; the same on all processes. Local.
 * Clauses: MEM-15. Source: [impl]. */
int ARMCI_Uses_shm(void);

/* The same for regions of a group. Local.
 * Clauses: MEM-15. Source: [impl]. */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);

/* A hint of how much shared memory the program means to use. The hint never makes an allocation fail: limits of the
 * machine and environment variables do (ARMCIX_Setting lists them). Local; before init too.
 * Clauses: MEM-15. Source: [98]. */
void ARMCI_Set_shm_limit(unsigned long bytes);

/* Opens direct access of the caller to its own part of the region that holds ptr: until ARMCI_Access_end, loads and
 * stores are safe and see every store that was remotely complete before. Pairs do not nest for one region. Programs
 * that never run on an implementation without coherent memory (ARMCIX_CAP_LOAD_STORE) may leave both out. Local.
 * Ordering: acquire; the caller's later loads are not moved before it.
 * Clauses: DLA-1. Source: [AMPI V-E]. */
void ARMCI_Access_begin(void *ptr);

/* Ends what ARMCI_Access_begin opened: the caller's stores are visible to every process by get, and on the node by
 * load. Local.
 * Ordering: release; the caller's earlier loads and stores are not moved after it.
 * Clauses: DLA-1. Source: [AMPI V-E]. */
void ARMCI_Access_end(void *ptr);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_MEMORY_H_ */
