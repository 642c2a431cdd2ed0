// The known faults of MPI libraries under one-sided communication: one table, and the set that applies to this run.
//
// A row has a permanent short name, what goes wrong, what the library does instead, and how it is found out. Most are
// found by a probe that runs inside the job and compares data. Those whose probe would abort or hang the process are
// decided from the version of the MPI library and its settings; `tools/armci mpi-doctor` tries them in jobs of their
// own (reproducers/<id>.c).
//
// Not every row breaks the MPI standard. Some are freedoms that it gives and that a library uses (`allowed`). Others
// are slow ways where others are fast (Evidence::kTiming). They need a safe method all the same.
//
// Thread safety: the table is constant; Findings is a value.
#pragma once

#include <cstdint>
#include <span>

namespace armci::rma {

enum class Fault : int {
  // Windows.
  kAllocateUnequal,
  kAllocateBase,
  kAllocateConcurrent,
  kAllocateSharedBroken,
  kCreateBroken,
  kCreateSharedBroken,
  kDynamicBroken,
  kDynamicPieces,
  kWindowAlone,
  kDisplacement32,
  // Atomics and accumulate.
  kAllocateAtomics,
  kAllocateSwapCrash,
  kAllocatePutTwice,
  kFetchAndOp,
  kCompareAndSwap,
  kAccumulateFlush,
  kAccumulateOrder,
  kPutAtomicOrder,
  kGetAccumulateHang,
  kAtomicStarvation,
  // Datatypes.
  kPutStrided,
  kPutIndexed,
  kGetStrided,
  kGetIndexed,
  kAccumulateStrided,
  kAccumulateIndexed,
  kAccumulateDisplaced,
  kAccumulateBottom,
  kAccumulateHeader,
  // Requests and progress.
  kGetFlushLocal,
  kRputContiguous,
  kRputNoncontiguous,
  kRgetContiguous,
  kRgetNoncontiguous,
  kRputOutstanding,
  kRputPackedCrash,
  kRequestLost,
  kRequestDynamic,
  kRequestsLimited,
  kPassiveProgress,
  kPutTorn,
  // Speed.
  kDatatypeRows,
  kPutSlow,
  kCount,
};

inline constexpr int kFaultCount = static_cast<int>(Fault::kCount);
static_assert(kFaultCount <= 64, "Findings is one word");

enum class Evidence {
  kProbe,    // a probe inside the job
  kVersion,  // the version of the MPI library and its settings: a probe could abort or hang the process
  kTiming,   // a measurement inside the job, which may come out otherwise the next time
};

struct FaultRow {
  Fault fault;
  const char* id;           // permanent; also the name of the reproducer
  const char* description;  // one sentence
  const char* safe_method;  // the workaround where the fault is present, one sentence
  Evidence evidence;
  bool allowed;  // by the MPI standard
};

// In the order of Fault.
std::span<const FaultRow> fault_table();
const FaultRow& fault_row(Fault fault);

// The faults that this run has to avoid, the same on all processes.
class Findings {
 public:
  // By version, by earlier probes that were kept, by probes of this start.
  enum class Origin : int { kVersions, kCache, kProbes };

  constexpr Findings() = default;
  constexpr explicit Findings(std::uint64_t bits, Origin origin = Origin::kVersions) : bits_(bits), origin_(origin) {}

  constexpr bool has(Fault fault) const { return (bits_ & bit(fault)) != 0; }
  constexpr void add(Fault fault) { bits_ |= bit(fault); }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr Origin origin() const { return origin_; }

 private:
  static constexpr std::uint64_t bit(Fault fault) { return std::uint64_t{1} << static_cast<int>(fault); }

  std::uint64_t bits_ = 0;
  Origin origin_ = Origin::kVersions;
};

}  // namespace armci::rma
