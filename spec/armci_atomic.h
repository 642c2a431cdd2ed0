/* armci_atomic.h - atomics, mutexes and notification. Included by armci.h, whose conventions C1..C16 hold here. */
#ifndef ARMCI_SPEC_ARMCI_ATOMIC_H_
#define ARMCI_SPEC_ARMCI_ATOMIC_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads and updates one int or long (op with _LONG) at remote address prem of proc in one atomic step. ploc, local,
 * receives the value before. ARMCI_FETCH_AND_ADD(_LONG) adds extra; ARMCI_SWAP(_LONG) stores the value that was in
 * *ploc and ignores extra. Atomic against every RMW on that location, by any process; not against put, accumulate or direct
 * stores. Wraps in two's complement. Local, blocking, T-any; no action by proc.
 * Errors: ARMCI_ERR_TYPE (op), ARMCI_ERR_ALIGNMENT (prem).
 * Ordering: after the origin's earlier blocking stores to proc; a later get of the origin sees it. All RMW on one
 * location are linearizable.
 * Clauses: RMW-1 to RMW-6, COMPAT-11. Source: [ARMCI 3.3]. */
int ARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc);

/* Creates the program's set of mutexes: n at this process (n may differ and be 0), named (mutex, proc), all free. One
 * set exists at a time; ARMCIX_Create_mutexes_hdl makes more. Collective over the world, blocking, T-collective.
 * Errors: ARMCI_ERR_MUTEX (a set exists), ARMCI_ERR_MEMORY.
 * Clauses: MUTEX-1. Source: [98]. */
int ARMCI_Create_mutexes(int n);

/* Destroys the set; all mutexes must be free. Collective over the world, blocking, T-collective.
 * Errors: ARMCI_ERR_MUTEX (no set; or a mutex is held, and then the set stays).
 * Clauses: MUTEX-1. Source: [98]. */
int ARMCI_Destroy_mutexes(void);

/* Returns when the caller holds mutex `mutex` of proc. Not recursive: a holder that locks again waits for itself (the
 * watchdog, ARMCI_TIMEOUT, reports it). The mutex belongs to the process; threads of one process exclude each other
 * too. A waiter does not occupy the core that the holder needs. Local, blocking, T-any; no action by proc.
 * Ordering: acquire: what earlier holders stored and fenced before their unlock is visible.
 * Clauses: MUTEX-2 to MUTEX-6, MUTEX-8, LC-1. Source: [ARMCI 3.4]. */
void ARMCI_Lock(int mutex, int proc);

/* Frees the mutex, which the caller holds. Stores made under it are visible to the next holder only if fenced before.
 * Local, T-any; no action by proc.
 * Ordering: release: the caller's earlier fenced stores and direct stores are visible to the next holder.
 * Clauses: MUTEX-2, MUTEX-5, MUTEX-8, LC-1. Source: [ARMCI 3.4]. */
void ARMCI_Unlock(int mutex, int proc);

/* Tells proc that all stores that the origin has issued to proc so far are visible there. No fence: the call may return
 * before they are, and completes no handle. Local; no action by proc, and no later call of the origin.
 * Ordering: release: all earlier stores of the origin to proc, blocking or not, are remotely complete when the matching
 * wait returns; nothing for other processes.
 * Clauses: ORD-6, LC-1, COMPAT-11. Source: [impl]. */
int armci_notify(int proc);

/* Returns when one more notification of proc has come: the k-th wait for proc matches its k-th notify, and *pval is k,
 * counted since init; pval NULL: not wanted. The wait does not occupy a core that proc needs. Blocking until proc
 * notifies.
 * Ordering: acquire, see armci_notify.
 * Clauses: ORD-6, LC-1, COMPAT-5, COMPAT-11. Source: [impl]. */
int armci_notify_wait(int proc, int *pval);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_ATOMIC_H_ */
