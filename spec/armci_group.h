/* armci_group.h - process groups and locality. Included by armci.h, whose conventions C1..C16 hold here.
 *
 * A group is an ordered set of processes. Group ranks number its members; transfers use absolute ids all the same.
 * Creation is T-collective; queries are local, not blocking, T-any, and write their output only on success.
 */
#ifndef ARMCI_SPEC_ARMCI_GROUP_H_
#define ARMCI_SPEC_ARMCI_GROUP_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a group of the processes with ranks pids[0..n-1] in the current default group (the world at start); group rank
 * i is the i-th. All members call with the same list, which stays the caller's; other processes may call too and get a
 * group they are not in. Blocks for members only, never for a process that does not call.
 * Errors (through ARMCI_Error): a rank outside the parent or twice, n < 1.
 * Clauses: GROUP-1, GROUP-2. Source: [ARMCI 3.6], [AMPI V-A]. */
void ARMCI_Group_create(int n, int pids[], ARMCI_Group *out);

/* ARMCI_Group_create with an explicit parent, whose group ranks pids holds.
 * Clauses: GROUP-1, GROUP-2. Source: [ARMCI 3.6], [AMPI V-A]. */
void ARMCI_Group_create_child(int n, int pids[], ARMCI_Group *out, ARMCI_Group *parent);

/* Frees the group; its memory must be freed before, mutex sets of it may live on. Called by all members, blocking; a
 * process that is not a member may call it too. The world cannot be freed.
 * Clauses: GROUP-1, GROUP-2. Source: [ARMCI 3.6]. */
void ARMCI_Group_free(ARMCI_Group *group);

/* The caller's group rank in *rank, -1 when it is not a member (and that is ARMCI_OK).
 * Clauses: GROUP-1. Source: [ARMCI 3.6]. */
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);

/* The number of members in *size, 0 when the caller is not one.
 * Clauses: GROUP-1. Source: [ARMCI 3.6]. */
void ARMCI_Group_size(ARMCI_Group *group, int *size);

/* Makes *group the default group of the caller: the parent of ARMCI_Group_create. Nothing else depends on the default group.
 * Clauses: GROUP-1. Source: [ARMCI 3.6]. */
void ARMCI_Group_set_default(ARMCI_Group *group);

/* The default group in *out.
 * Clauses: GROUP-1. Source: [ARMCI 3.6]. */
void ARMCI_Group_get_default(ARMCI_Group *out);

/* The group of all processes in *out; its group ranks are the absolute ids.
 * Clauses: GROUP-1. Source: [ARMCI 3.6]. */
void ARMCI_Group_get_world(ARMCI_Group *out);

/* The absolute id of the member with this group rank; -1, with the line of C4, when there is none.
 * Clauses: GROUP-1, ERR-2. Source: [ARMCI 3.6]. */
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank);

/* The communicator of the group, the same as its member comm; it stays the library's.
 * Clauses: GROUP-1, ABI-1. Source: [impl]. */
MPI_Comm armci_group_comm(ARMCI_Group *group);

/* LOCALITY
 *
 * Each process is in exactly one domain of a kind; domains are numbered from 0, and processes inside one from 0 (the
 * local index), in ascending order of absolute ids. With ARMCI_NODE_SIZE=k domains are the simulated nodes. A domain or
 * id that does not exist gives -1 and the line of C4.
 * Clauses: DOM-1, ERR-2. Source: [ARMCI 3.7]. */

/* Number of processes in domain id; negative: in the caller's. */
int armci_domain_nprocs(armci_domain_t domain, int id);

/* Domain of process proc. */
int armci_domain_id(armci_domain_t domain, int proc);

/* Absolute id of the process with local index `local` in domain id. */
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local);

/* Domain of the caller. */
int armci_domain_my_id(armci_domain_t domain);

/* Number of domains. */
int armci_domain_count(armci_domain_t domain);

/* 1 when proc is in the caller's domain, else 0. For ARMCI_DOMAIN_SMP: its regions can be loaded and stored [MEM-4]. */
int armci_domain_same_id(armci_domain_t domain, int proc);

/* armci_domain_same_id(ARMCI_DOMAIN_SMP, proc). */
int ARMCI_Same_node(int proc);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_GROUP_H_ */
