/* armci_start.h - start and end. Included by armci.h, whose conventions C1..C16 hold here.
 *
 * Init and finalize are collective and T-alone. The library works on a communicator of its own, so its messages never
 * match those of the program [INIT-4].
 */
#ifndef ARMCI_SPEC_ARMCI_START_H_
#define ARMCI_SPEC_ARMCI_START_H_

#include "armci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the library on all processes of MPI_COMM_WORLD. MPI may have been initialised before, at any thread level; if
 * not, ARMCI_Init initialises it at MPI_THREAD_MULTIPLE and the matching ARMCI_Finalize finalizes it. A second init
 * nests and only requires a second finalize. Reads the ARMCI_* environment variables (ARMCIX_Setting lists them).
 * Collective, blocking, T-alone.
 * Errors: ARMCI_ERR_MEMORY (shared memory, descriptors), ARMCI_ERR_UNSUPPORTED (this implementation cannot serve the
 * processes as they are placed, and the line says which can; or processes have loaded different libraries),
 * ARMCI_ERR_TYPE (an environment variable does not parse), ARMCI_ERR_STATE (a child of fork). On an error every process
 * gets one and the library is as before the call.
 * Clauses: INIT-1, INIT-2, INIT-4, INIT-9, INIT-10, ABI-1. Source: [ARMCI 3]. */
int ARMCI_Init(void);

/* ARMCI_Init; argc and argv go to MPI if this call initialises it, and may be NULL. The arrays stay the caller's.
 * Clauses: INIT-1, INIT-2, COMPAT-5. Source: [ARMCI 3]. */
int ARMCI_Init_args(int *argc, char ***argv);

/* ARMCI_Init that requests a thread level, MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE.
 * Errors: those of ARMCI_Init; ARMCI_ERR_TYPE (no such level); ARMCI_ERR_UNSUPPORTED (MPI provides less).
 * Clauses: INIT-8, THR-1. Source: [impl]. */
int ARMCI_Init_thread(int required);

/* ARMCI_Init_thread on the processes of comm: its ranks are the absolute ids. MPI must be initialised. comm is
 * duplicated and stays the caller's. Collective over comm; processes outside take no part.
 * Errors: those of ARMCI_Init_thread; ARMCI_ERR_NULL (MPI_COMM_NULL); ARMCI_ERR_STATE (before MPI_Init, after
 * MPI_Finalize; initialised already, with other processes or another order); ARMCI_ERR_UNSUPPORTED (an intercommunicator).
 * Clauses: INIT-8, ERR-1. Source: [impl]. */
int ARMCI_Init_thread_comm(int required, MPI_Comm comm);

/* ARMCI_Init on the processes of comm, as above, at the level that MPI has.
 * Clauses: INIT-8. Source: [impl]. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);

/* 1 between the first init and its matching finalize, or MPI_Finalize if that comes first, else 0. Local; at any time, before MPI_Init too.
 * 0 in a child of fork, which is no process of the job.
 * Clauses: INIT-3, INIT-9. Source: [impl]. */
int ARMCI_Initialized(void);

/* Completes everything outstanding, frees all regions, mutexes and groups, and leaves nothing behind in the system.
 * Nested inits: only the last finalize does it. Collective, blocking, T-alone. Call it before MPI_Finalize.
 * If every process calls MPI_Finalize first, that call ends the library, nested inits included, with a warning.
 * Errors: ARMCI_ERR_STATE (no matching init; after MPI_Finalize).
 * Ordering: everything stored before is complete at its target when its owner's finalize returns.
 * Clauses: INIT-2, INIT-5, CMPL-8. Source: [ARMCI 3]. */
int ARMCI_Finalize(void);

/* Releases the system resources of the caller that would outlive it, for use before an abort; the watchdog stops, and
 * shared memory has no name and goes with its processes. The library cannot be used afterwards. Local, not blocking;
 * may be called more than once, and when init has not run.
 * Clauses: INIT-6. Source: [98]. */
void ARMCI_Cleanup(void);

/* Prints msg, code and rank on stderr, cleans up, and ends the whole job with a non-zero status (code itself where it
 * is one). Does not return. Local; T-any; at any time.
 * Clauses: INIT-6, ERR-2. Source: [98]. */
void ARMCI_Error(const char *msg, int code);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_START_H_ */
