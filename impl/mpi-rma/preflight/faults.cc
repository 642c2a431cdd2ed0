#include "impl/mpi-rma/preflight/faults.h"

#include <cstddef>
#include <iterator>

namespace armci::rma {
namespace {

constexpr FaultRow kTable[] = {
    {Fault::kAllocateUnequal, "win-allocate-unequal",
     "MPI_Win_allocate with another size on each process gives wrong base addresses or moves wrong data.",
     "Memory of our own under MPI_Win_create, or equal sizes on all processes.", Evidence::kProbe, false},
    {Fault::kAllocateBase, "win-allocate-equal", "MPI_Win_allocate with equal sizes moves wrong data.",
     "Memory of our own under MPI_Win_create.", Evidence::kProbe, false},
    {Fault::kAllocateConcurrent, "win-allocate-concurrent",
     "MPI_Win_allocate at the same time on disjoint communicators lets their windows share memory, or aborts.",
     "Memory of our own under MPI_Win_create.", Evidence::kVersion, false},
    {Fault::kAllocateSharedBroken, "win-allocate-shared",
     "There is no window of MPI_Win_allocate_shared, or its memory is not what other processes of the node store "
     "there.",
     "Memory of our own under MPI_Win_create.", Evidence::kProbe, false},
    {Fault::kCreateBroken, "win-create",
     "Contiguous put, get or accumulate through MPI_Win_create over private memory moves wrong data, or there is "
     "no such window.",
     "Regions are shared mappings, and mutexes of their words (ARMCI_RMA_MUTEX=atomic).", Evidence::kProbe, false},
    {Fault::kCreateSharedBroken, "win-create-shared",
     "Contiguous put, get or accumulate through MPI_Win_create over a shared mapping moves wrong data, or there is "
     "no such window.",
     "ARMCI_Init refuses, unless ARMCI_RMA_WINDOW=allocate.", Evidence::kProbe, false},
    {Fault::kDynamicBroken, "win-dynamic",
     "Put, get, accumulate or an atomic through a dynamic window moves wrong data, or there is no such window.",
     "ARMCI_Init refuses.", Evidence::kProbe, false},
    {Fault::kDynamicPieces, "dynamic-pieces",
     "Transfers to the second piece of memory that a process attached to a dynamic window end the process.",
     "The range of addresses of all such memory is attached once, as one piece.", Evidence::kVersion, false},
    {Fault::kWindowAlone, "win-alone",
     "MPI_Win_create or MPI_Win_create_dynamic on a communicator of one process fails or moves wrong data.",
     "No window in a job of one process, which has its memory to itself.", Evidence::kProbe, false},
    {Fault::kDisplacement32, "displacement-32bit", "Displacements of 2 GiB and more are cut to 32 bits.",
     "Another component of Open MPI than osc/rdma.", Evidence::kVersion, false},
    {Fault::kAllocateAtomics, "win-allocate-atomics",
     "Contended MPI_Fetch_and_op on memory of MPI_Win_allocate loses or repeats updates.",
     "Memory of our own under MPI_Win_create.", Evidence::kProbe, false},
    {Fault::kAllocateSwapCrash, "win-allocate-swap",
     "MPI_Compare_and_swap on memory of MPI_Win_allocate ends the process with a segmentation fault.",
     "Memory of our own under MPI_Win_create.", Evidence::kVersion, false},
    {Fault::kAllocatePutTwice, "win-allocate-put",
     "MPI_Put on memory of MPI_Win_allocate may store an element twice: an atomic operation in between is lost.",
     "Memory of our own under MPI_Win_create.", Evidence::kVersion, false},
    {Fault::kFetchAndOp, "fetch-and-op",
     "MPI_Fetch_and_op on 4- or 8-byte integers under MPI_Win_create gives a wrong result or loses updates.",
     "The exclusive strategy (ARMCI_RMA_SYNC), which does without.", Evidence::kProbe, false},
    {Fault::kCompareAndSwap, "compare-and-swap",
     "MPI_Compare_and_swap on 4- or 8-byte integers under MPI_Win_create gives a wrong result.",
     "The exclusive strategy (ARMCI_RMA_SYNC), which does without.", Evidence::kProbe, false},
    {Fault::kAccumulateFlush, "accumulate-flush", "MPI_Accumulate is not in the target's memory after MPI_Win_flush.",
     "The exclusive strategy (ARMCI_RMA_SYNC), which does without.", Evidence::kProbe, false},
    {Fault::kAccumulateOrder, "accumulate-order",
     "MPI_Accumulate(MPI_REPLACE) and a later MPI_Fetch_and_op on the same element are not in order.",
     "A flush between the two.", Evidence::kProbe, false},
    {Fault::kPutAtomicOrder, "put-atomic-order", "MPI_Put and a later MPI_Fetch_and_op take effect in another order.",
     "A flush between the two.", Evidence::kProbe, true},
    {Fault::kGetAccumulateHang, "get-accumulate-hang",
     "Contended MPI_Get_accumulate or MPI_Rget_accumulate with MPI_REPLACE hangs.",
     "No MPI_Get_accumulate of more than one element with MPI_REPLACE.", Evidence::kVersion, false},
    {Fault::kAtomicStarvation, "atomic-starvation",
     "A process that polls its own memory by MPI_Fetch_and_op keeps the atomics of others from it for ever.",
     "Own memory is polled by loads, with MPI_Win_sync and MPI_Iprobe.", Evidence::kVersion, false},
    {Fault::kPutStrided, "put-strided", "MPI_Put with a vector or subarray type on either side moves wrong data.",
     "One MPI_Put for each row.", Evidence::kProbe, false},
    {Fault::kPutIndexed, "put-indexed", "MPI_Put with an indexed type on either side moves wrong data.",
     "One MPI_Put for each segment.", Evidence::kProbe, false},
    {Fault::kGetStrided, "get-strided", "MPI_Get with a vector or subarray type on either side moves wrong data.",
     "One MPI_Get for each row.", Evidence::kProbe, false},
    {Fault::kGetIndexed, "get-indexed", "MPI_Get with an indexed type on either side moves wrong data.",
     "One MPI_Get for each segment.", Evidence::kProbe, false},
    {Fault::kAccumulateStrided, "accumulate-strided",
     "MPI_Accumulate with a vector or subarray type on either side loses or misplaces updates.",
     "One MPI_Accumulate for each row.", Evidence::kProbe, false},
    {Fault::kAccumulateIndexed, "accumulate-indexed",
     "MPI_Accumulate with an indexed type on either side loses or misplaces updates.",
     "One MPI_Accumulate for each segment.", Evidence::kProbe, false},
    {Fault::kAccumulateDisplaced, "accumulate-displaced",
     "MPI_Accumulate with a type that begins behind its buffer misplaces updates.", "Types begin at their buffer.",
     Evidence::kProbe, false},
    {Fault::kAccumulateBottom, "accumulate-bottom",
     "MPI_Accumulate from MPI_BOTTOM with a type of absolute addresses ends the process with a segmentation fault.",
     "Types are relative to a buffer and begin at it.", Evidence::kVersion, false},
    {Fault::kAccumulateHeader, "accumulate-header",
     "MPI_Accumulate with a type of very many irregular segments ends the process: its description does not fit.",
     "Types of at most 256 segments.", Evidence::kVersion, false},
    {Fault::kGetFlushLocal, "get-flush-local",
     "MPI_Win_flush_local returns before the data of an MPI_Get has arrived when an MPI_Put followed the get.",
     "MPI_Rget and MPI_Wait where requests are right, else MPI_Win_flush.", Evidence::kProbe, false},
    {Fault::kRputContiguous, "rput-contiguous", "MPI_Rput with contiguous types moves wrong data.",
     "MPI_Put and MPI_Win_flush_local.", Evidence::kProbe, false},
    {Fault::kRputNoncontiguous, "rput-noncontiguous",
     "MPI_Rput with a noncontiguous type moves wrong data or completes before it has read its buffer.",
     "MPI_Put and MPI_Win_flush_local.", Evidence::kProbe, false},
    {Fault::kRgetContiguous, "rget-contiguous",
     "MPI_Rget with contiguous types moves wrong data or completes before the data has arrived.",
     "MPI_Get and MPI_Win_flush.", Evidence::kProbe, false},
    {Fault::kRgetNoncontiguous, "rget-noncontiguous",
     "MPI_Rget with a noncontiguous type moves wrong data or completes before the data has arrived.",
     "MPI_Get and MPI_Win_flush.", Evidence::kProbe, false},
    {Fault::kRputOutstanding, "rput-outstanding", "The 255th outstanding MPI_Rput to one target ends the process.",
     "MPI_Put and MPI_Win_flush_local.", Evidence::kVersion, false},
    {Fault::kRputPackedCrash, "rput-packed-crash", "MPI_Rput that must pack its data ends the process.",
     "MPI_Put and MPI_Win_flush_local for noncontiguous types.", Evidence::kVersion, false},
    {Fault::kRequestLost, "request-lost",
     "A request of MPI_Rput or MPI_Rget never completes when another thread makes progress while it is started.",
     "MPI_Put and MPI_Get without requests, and MPI_Win_flush_local.", Evidence::kVersion, false},
    {Fault::kRequestDynamic, "request-dynamic",
     "MPI_Rput or MPI_Rget to a dynamic window reads a key where none is, which ends the process in some runs.",
     "Dynamic windows are used without requests, and not probed with them.", Evidence::kVersion, false},
    {Fault::kRequestsLimited, "requests-limited", "The process ends at about 200,000 outstanding operations.",
     "A flush after at most 10,000 operations.", Evidence::kVersion, true},
    {Fault::kPassiveProgress, "passive-progress",
     "Operations that the network cannot do alone wait until their target calls MPI.",
     "A progress thread, and calls of MPI_Iprobe in every waiting loop.", Evidence::kVersion, true},
    {Fault::kPutTorn, "put-torn",
     "MPI_Put and MPI_Accumulate of many bytes arrive in pieces that end inside elements, which loads see in part.",
     "Pieces of whole elements by UCX_TCP_TX_SEG_SIZE, UCX_POSIX_SEG_SIZE and UCX_SYSV_SEG_SIZE, where the environment "
     "had no others before MPI started; datatypes of whole words.",
     Evidence::kVersion, true},
    {Fault::kDatatypeRows, "datatype-rows",
     "MPI_Put with a datatype moves each row by itself, which takes longer than to pack the rows first.",
     "The origin packs where the remote side is one run of bytes; gets bring narrow gaps along.", Evidence::kTiming,
     true},
    {Fault::kPutSlow, "put-slow", "MPI_Put and a flush take longer than MPI_Accumulate(MPI_REPLACE) and a flush.",
     "Contiguous transfers are accumulates of 64 KiB each, but for short gets and short non-blocking ones.",
     Evidence::kTiming, true},
};
static_assert(std::size(kTable) == kFaultCount);

constexpr bool in_order() {
  for (std::size_t row = 0; row < std::size(kTable); ++row) {
    if (static_cast<std::size_t>(kTable[row].fault) != row) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const FaultRow> fault_table() { return kTable; }

const FaultRow& fault_row(Fault fault) { return kTable[static_cast<std::size_t>(fault)]; }

}  // namespace armci::rma
