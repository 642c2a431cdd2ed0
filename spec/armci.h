/* clang-format off: the numbered list below is laid out by hand */
/* armci.h - one-sided communication on global memory: the classic interface, in full.
 *
 * A process allocates memory together with other processes (ARMCI_Malloc). From then on the process reads, writes and
 * updates the parts of all of them, and the owner of a part need not act. The chapters are in the headers included
 * below; messages between processes are in message.h (also armci_message.h), extensions with 64-bit sizes in armcix.h.
 * semantics.md states the guarantees; IDs such as ORD-1 are its clauses.
 *
 * CONVENTIONS. Every call follows them unless its text says otherwise.
 *
 *  C1  Local and collective. A call is local: it needs no call by another process. A collective call is made by all
 *      processes of the world (of the group, where it takes one), in the same order.
 *  C2  Processes. proc is an absolute id: 0..n-1, the rank in the communicator of the world, also in calls on the
 *      memory of a group. Group ranks occur only where a text says "group rank".
 *  C3  Results. A call that returns int returns ARMCI_OK (0) on success and another armci_result_t otherwise; a query
 *      returns its answer, or -1 [ERR-1, ERR-2]. A call without a result reports bad input through ARMCI_Error, which
 *      ends the job [ERR-2].
 *  C4  Errors. Each failure prints one line on stderr: rank, call, argument, value, cause, next step, clause. Nothing
 *      has been written then and the library stays usable. Every call can return ARMCI_ERR_STATE (before init, after
 *      finalize) and ARMCI_ERR_SYSTEM (the layer below failed). Every call with a proc can return ARMCI_ERR_PROC; with
 *      a pointer ARMCI_ERR_NULL; with a length or count ARMCI_ERR_LENGTH; with a remote address ARMCI_ERR_ADDRESS;
 *      with a group ARMCI_ERR_GROUP. The texts name only further errors. The library makes costly checks with
 *      ARMCI_CHECK=1 [ERR-4].
 *  C5  Blocking. A call returns locally complete: the source of a store may be overwritten, the destination of a get
 *      holds the data [CMPL-1, CMPL-2]. A non-blocking call (Nb) may return before. Its local buffer then belongs to
 *      the library until ARMCI_Wait, ARMCI_WaitProc, ARMCI_WaitAll or a fence: do not write the source of a store, do
 *      not touch the destination of a get. Shape arrays (strides, counts, descriptors, pointer arrays) and scale are
 *      read before the call returns, and so are operands of atomics; no call writes them [COMPAT-2].
 *  C6  Addresses. src is where data come from, dst where they go: for a put or accumulate dst is remote, for a get src.
 *      A remote address lies, with all bytes of the call, in one live region of proc, as an allocation returned it or
 *      advanced from that [MEM-3]; different segments may lie in different regions. The local buffer is any memory of
 *      the caller, part of a region included [MEM-9, MEM-10].
 *  C7  Units. Lengths and strides are in bytes; count[0] is in bytes, count[1..] in segments. Totals may exceed an int
 *      [XFER-8]; for single lengths beyond an int use armcix.h.
 *  C8  Strided shape. stride_levels (0..ARMCI_MAX_STRIDE_LEVEL) is one less than the number of dimensions; count has
 *      stride_levels + 1 entries, each stride array stride_levels. The call equals this loop nest, here for 2 levels:
 *          for (i = 0; i < count[2]; i++)
 *            for (j = 0; j < count[1]; j++)
 *              move(src + i * src_stride[1] + j * src_stride[0],
 *                   dst + i * dst_stride[1] + j * dst_stride[0], count[0]);
 *      Further error: ARMCI_ERR_STRIDE. With 0 levels the stride arrays may be NULL [XFER-5].
 *  C9  Vector shape. len descriptors, each with ptr_array_len segments of `bytes` bytes, segment i from
 *      src_ptr_array[i] to dst_ptr_array[i] [XFER-6].
 *  C10 Nothing to move (0 bytes, 0 segments, 0 descriptors, a count of 0) is a success at any target; the addresses are
 *      ignored then [XFER-3], and so are scale and arrays of addresses, which may be NULL [COMPAT-8].
 *  C11 Memory ordering. Blocking stores to one target take effect in issue order for every observer [ORD-1]; stores to
 *      different targets, and all non-blocking stores, are unordered until a fence [ORD-2, ORD-3]; a process sees its
 *      own completed operations in order [ORD-4]. A blocking get orders nothing else. Only calls with a paragraph
 *      "Ordering" give more.
 *  C12 Threads. T-any: at MPI_THREAD_MULTIPLE any thread may call at any time; below it, the threads MPI allows to call
 *      it [THR-1]. T-collective: as T-any, but one thread of a process at a time per group. T-alone: no other thread of
 *      the process is inside the library. Calls are T-any.
 *  C13 Progress. A one-sided call completes in bounded time, also while the target computes, sleeps or waits in MPI
 *      [PROG-1]; polling is never needed.
 *  C14 Profiling. Each function F is a weak name of a strong PF (parmci.h); a tool that defines F sees the calls of the
 *      program, and the library does not call F itself [PROF-1].
 *  C15 Binary interface. Types, values and prototypes are the same in all implementations: choose one when linking, or
 *      when loading. A header and a library that do not fit give a link error, see armci_abi_version_1 [ABI-1].
 *  C16 Sources. "Source:" names where a call comes from, by the keys of semantics.md ([ARMCI], [98], [AMPI], ...).
 *
 * A program:
 *      MPI_Init(&argc, &argv);
 *      ARMCI_Init();
 *      ARMCI_Malloc(part, 1024);                         part[p] is the address of the part of process p
 *      ARMCI_Put(buffer, part[right], 1024, right);      buffer may be reused at once
 *      ARMCI_Barrier();                                  the stores of all processes are visible to all
 *      ARMCI_Free(part[me]);
 *      ARMCI_Finalize();
 *      MPI_Finalize();
 */
/* clang-format on */
#ifndef ARMCI_SPEC_ARMCI_H_
#define ARMCI_SPEC_ARMCI_H_

#include "armci_atomic.h"
#include "armci_complete.h"
#include "armci_group.h"
#include "armci_memory.h"
#include "armci_start.h"
#include "armci_transfer.h"
#include "armci_types.h"

#endif /* ARMCI_SPEC_ARMCI_H_ */
