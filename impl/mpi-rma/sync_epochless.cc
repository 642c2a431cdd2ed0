#include "impl/mpi-rma/sync_epochless.h"

namespace armci::rma {

using common::kSuccess;
using common::Status;

namespace {

bool is_derived(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner != MPI_COMBINER_NAMED;
}

int issue_with_request(const Access& a, MPI_Request* request) {
  MPI_Win window = a.window->handle();
  switch (a.kind) {
    case Kind::kPut:
      return MPI_Rput(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, window, request);
    case Kind::kGet:
      return MPI_Rget(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, window, request);
    case Kind::kAccumulate:
      break;
  }
  return MPI_Raccumulate(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, MPI_SUM, window,
                         request);
}

}  // namespace

int Epochless::hand_over(const Access& a) const {
  const bool contiguous = a.local_type == MPI_BYTE && a.type == MPI_BYTE;
  if (a.kind == Kind::kPut && contiguous && static_cast<std::size_t>(a.count) <= options_.accumulated_put_bytes) {
    return MPI_Accumulate(a.local, a.count, MPI_BYTE, a.rank, a.displacement, a.count, MPI_BYTE, MPI_REPLACE,
                          a.window->handle());
  }
  return call(a);
}

Status Epochless::open(Window* window) {
  ARMCI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window->handle()));
  return kSuccess;
}

Status Epochless::close(Window* window) {
  ARMCI_MPI(MPI_Win_unlock_all(window->handle()));
  return kSuccess;
}

Status Epochless::start(const Access& access, Pending* pending) {
  const bool derived = pending != nullptr && (is_derived(access.local_type) || is_derived(access.type));
  if (pending != nullptr && (derived ? options_.derived_requests : options_.requests)) {
    MPI_Request request = MPI_REQUEST_NULL;
    ARMCI_MPI(issue_with_request(access, &request));
    *pending = Pending(request);
    return kSuccess;
  }
  // A flush would wait for the stores as well, a request waits for this get alone.
  if (pending == nullptr && access.kind == Kind::kGet && options_.gets_need_flush && options_.requests &&
      access.local_type == MPI_BYTE && access.type == MPI_BYTE) {
    MPI_Request request = MPI_REQUEST_NULL;
    ARMCI_MPI(issue_with_request(access, &request));
    ARMCI_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return kSuccess;
  }
  ARMCI_MPI(hand_over(access));
  if (pending == nullptr) return complete_locally(access.window, access.rank, access.kind);
  *pending = Pending(this, access.window, access.rank, access.kind);
  return kSuccess;
}

Status Epochless::issue(std::span<const Access> accesses) {
  for (const Access& access : accesses) ARMCI_MPI(hand_over(access));
  return kSuccess;
}

Status Epochless::complete_locally(Window* window, int rank, Kind kind) {
  if (kind == Kind::kGet && options_.gets_need_flush) return flush(window, rank);
  ARMCI_MPI(MPI_Win_flush_local(rank, window->handle()));
  return kSuccess;
}

template <class Word>
Status Epochless::atomic_on(MPI_Datatype type, const Atomic& a, Word operand, Word compare, Word* before) {
  MPI_Win window = a.window->handle();
  Word result = 0;
  if (a.op == common::AtomicOp::kCompareSwap) {
    ARMCI_MPI(MPI_Compare_and_swap(&operand, &compare, &result, type, a.rank, a.displacement, window));
  } else {
    MPI_Op how = a.op == common::AtomicOp::kSwap ? MPI_REPLACE : MPI_SUM;
    ARMCI_MPI(MPI_Fetch_and_op(&operand, &result, type, a.rank, a.displacement, how, window));
  }
  ARMCI_MPI(MPI_Win_flush(a.rank, window));
  *before = result;
  return kSuccess;
}

Status Epochless::atomic(const Atomic& atomic, std::int32_t operand, std::int32_t compare, std::int32_t* before) {
  return atomic_on(MPI_INT32_T, atomic, operand, compare, before);
}

Status Epochless::atomic(const Atomic& atomic, std::int64_t operand, std::int64_t compare, std::int64_t* before) {
  return atomic_on(MPI_INT64_T, atomic, operand, compare, before);
}

Status Epochless::flush(Window* window, int rank) {
  ARMCI_MPI(MPI_Win_flush(rank, window->handle()));
  return kSuccess;
}

}  // namespace armci::rma
