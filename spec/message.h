/* message.h - two-sided messages, collectives and helpers. Also installed as armci_message.h.
 *
 * The conventions C1..C16 of armci.h hold, with these besides:
 *
 *  M1  Results. Only armci_msg_me, _nproc, _rcvany and armci_timer return something; bad input goes to ARMCI_Error.
 *  M2  Scopes. SCOPE_ALL: all processes (of the group, in the group forms). SCOPE_NODE: those of the caller's node.
 *      SCOPE_MASTERS: the first process of each node. A call is made by all processes of its scope and by no other.
 *  M3  Roots are absolute ids of a process in the scope, in the group forms too [COMPAT-14].
 *  M4  Collectives are blocking and T-collective. Buffers are the caller's again on return; len is in bytes, n in
 *      elements, and a buffer may be NULL where they are 0 [COMPAT-6]. Collectives are no fences: ARMCI_Barrier, or a
 *      fence before the message, makes one-sided stores visible.
 *  M5  Operators: "+", "*", "max", "min", "absmax", "absmin" (largest and smallest absolute value), and of
 *      integers "&&" or "land", "||" or "lor" (1 where all, or some, are not 0, else 0), "&" or "band", "|", "bor" or
 *      "or" (of their bits). Logical and bit operators on floating-point types are an error. The longest name that
 *      the text begins with counts; the rest is not read [MSG-2]. The result of a sum or product of floating point
 *      numbers may differ in rounding from run to run, not from process to process.
 *  M6  Clauses: MSG-1 for all calls; further ones are named. Source: [98].
 *
 * Messages never match those of the program's own MPI calls [INIT-4].
 */
#ifndef ARMCI_SPEC_MESSAGE_H_
#define ARMCI_SPEC_MESSAGE_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of the collectives. */
enum { ARMCI_INT = 0, ARMCI_LONG = 1, ARMCI_LONG_LONG = 2, ARMCI_FLOAT = 3, ARMCI_DOUBLE = 4 };

/* Scopes of the collectives (M2). */
enum { SCOPE_ALL = 0, SCOPE_NODE = 1, SCOPE_MASTERS = 2 };

/* long long, also where the language is older than it. */
#ifdef __GNUC__
__extension__ typedef long long armci_long_long_t;
#else
typedef long long armci_long_long_t;
#endif

/* The caller's absolute id. Local, T-any. */
int armci_msg_me(void);

/* The number of processes. Local, T-any. */
int armci_msg_nproc(void);

/* Ends the whole job with a non-zero status (code where it is one). Does not return. Local, T-any. Clauses: INIT-6. */
void armci_msg_abort(int code);

/* Seconds since some moment in the past of this process; never goes back. Local, T-any. */
double armci_timer(void);

/* POINT TO POINT: two-sided; the receiver must take part. Tags are 0 to 32,766, and more where MPI has more [COMPAT-7].
 * T-any. */

/* Sends len bytes to process `to`. Blocking: buf may be changed on return. May wait for the receiver.
 * Ordering: messages of one tag between two processes arrive in order. After a fence, a message tells its receiver that
 * the fenced stores are there [LC-1]. */
void armci_msg_snd(int tag, void *buf, int len, int to);

/* Receives a message of `from` into buf; its length in bytes goes to *msglen (NULL: not wanted). Blocking.
 * Errors: a message longer than buflen. Clauses: COMPAT-5, COMPAT-6. */
void armci_msg_rcv(int tag, void *buf, int buflen, int *msglen, int from);

/* armci_msg_rcv from any process; returns the absolute id of the sender. */
int armci_msg_rcvany(int tag, void *buf, int buflen, int *msglen);

/* BARRIERS: return on no process before all have called. No fence: see ARMCI_Barrier. */

/* Barrier of all processes. */
void armci_msg_barrier(void);

/* armci_msg_barrier under its profiling name, which programs call too (C14). */
void parmci_msg_barrier(void);

/* Barrier of the members of the group. Clauses: FENCE-5. */
void armci_msg_group_barrier(ARMCI_Group *group);

/* A binary tree over the processes of the scope: its root, and the caller's parent and children, as absolute ids, -1
 * where there is none. Local, T-any. */
void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);

/* BROADCASTS: len bytes of buf at root go to buf of all others in the scope. */

/* Broadcast to all processes. */
void armci_msg_bcast(void *buf, int len, int root);

/* The same under its older name. */
void armci_msg_brdcst(void *buf, int len, int root);

/* Broadcast in a scope. */
void armci_msg_bcast_scope(int scope, void *buf, int len, int root);

/* Broadcast in a scope of a group; root is an absolute id (M3). */
void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);

/* Broadcast from the first process of the caller's node to the others there. */
void armci_msg_clus_brdcst(void *buf, int len);

/* REDUCTIONS to one process: x[0..n-1] of all processes is combined by op. The result is in x at the first process of
 * the scope (the root of armci_msg_bintree); elsewhere x is unspecified. type is ARMCI_INT to ARMCI_DOUBLE. */

/* Reduction over all processes. */
void armci_msg_reduce(void *x, int n, const char *op, int type);

/* Reduction over a scope. */
void armci_msg_reduce_scope(int scope, void *x, int n, const char *op, int type);

/* SELECTION: x is a record of n bytes that starts with an element of `type`. The record whose first element is the
 * greatest (op "max") or least ("min") of those with contribute != 0 goes to x of every process; of equals, that of the
 * lowest absolute id. Without any contribution x stays as it is. Processes with contribute 0 take part all the same. */

/* Selection over all processes. */
void armci_msg_sel(void *x, int n, const char *op, int type, int contribute);

/* Selection over a scope. */
void armci_msg_sel_scope(int scope, void *x, int n, const char *op, int type, int contribute);

/* GLOBAL OPERATIONS: x[0..n-1] of all processes is combined by op, and all get the same result in x. */

/* Of int, over all processes. */
void armci_msg_igop(int x[], int n, const char *op);

/* Of long, over all processes. */
void armci_msg_lgop(long x[], int n, const char *op);

/* Of long long, over all processes. */
void armci_msg_llgop(armci_long_long_t x[], int n, const char *op);

/* Of float, over all processes. */
void armci_msg_fgop(float x[], int n, const char *op);

/* Of double, over all processes. */
void armci_msg_dgop(double x[], int n, const char *op);

/* Of any type, over a scope. */
void armci_msg_gop_scope(int scope, void *x, int n, const char *op, int type);

/* Of int, over a group. */
void armci_msg_group_igop(int x[], int n, const char *op, ARMCI_Group *group);

/* Of long, over a group. */
void armci_msg_group_lgop(long x[], int n, const char *op, ARMCI_Group *group);

/* Of long long, over a group. */
void armci_msg_group_llgop(armci_long_long_t x[], int n, const char *op, ARMCI_Group *group);

/* Of float, over a group. */
void armci_msg_group_fgop(float x[], int n, const char *op, ARMCI_Group *group);

/* Of double, over a group. */
void armci_msg_group_dgop(double x[], int n, const char *op, ARMCI_Group *group);

/* Of any type, over a scope of a group. */
void armci_msg_group_gop_scope(int scope, void *x, int n, const char *op, int type, ARMCI_Group *group);

/* Of int, over the caller's node. */
void armci_msg_clus_igop(int x[], int n, const char *op);

/* Of long, over the caller's node. */
void armci_msg_clus_lgop(long x[], int n, const char *op);

/* Of long long, over the caller's node. */
void armci_msg_clus_llgop(armci_long_long_t x[], int n, const char *op);

/* Of float, over the caller's node. */
void armci_msg_clus_fgop(float x[], int n, const char *op);

/* Of double, over the caller's node. */
void armci_msg_clus_dgop(double x[], int n, const char *op);

/* EXCHANGE OF ADDRESSES: the caller gives ptr[its rank]; on return ptr[p] is what p gave, for all p; other entries are
 * not read. */

/* Over all processes: n is their number. */
void armci_exchange_address(void *ptr[], int n);

/* Over a group: ptr is indexed by group rank, n is its size. */
void armci_exchange_address_grp(void *ptr[], int n, ARMCI_Group *group);

/* PACKING of a strided shape (C8 of armci.h) in local memory; buf holds the product of the counts, in bytes, dimension
 * 0 fastest. Both buffers are the caller's; they must not overlap. Local, T-any. Clauses: XFER-10. */

/* Unpacks: from buf to the strided memory at ptr. */
void armci_read_strided(void *ptr, int stride_levels, int stride[], int count[], char *buf);

/* Packs: from the strided memory at ptr to buf. */
void armci_write_strided(void *ptr, int stride_levels, int stride[], int count[], char *buf);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_MESSAGE_H_ */
