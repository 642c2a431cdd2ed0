#include "impl/mpi-rma/sync_epochless.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace armci::rma {

namespace {

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

// MPI uses them until the operation is complete. A shorter word is in the first bytes.
struct AtomicWords {
  std::uint64_t operand;
  std::uint64_t compare;
  std::uint64_t before;
};

int issue_atomic(const Atomic& a, AtomicWords* words) {
  MPI_Win window = a.window->handle();
  MPI_Datatype type = a.rmw.bytes == sizeof(std::int32_t) ? MPI_INT32_T : MPI_INT64_T;
  if (a.rmw.op == node::RmwOp::kCompareSwap) {
    return MPI_Compare_and_swap(&words->operand, &words->compare, &words->before, type, a.rank, a.displacement, window);
  }
  MPI_Op how = a.rmw.op == node::RmwOp::kSwap ? MPI_REPLACE : MPI_SUM;
  return MPI_Fetch_and_op(&words->operand, &words->before, type, a.rank, a.displacement, how, window);
}

}  // namespace

// A short blocking get is quicker by a request than in pieces. A non-blocking operation of one piece completes by its
// request, independently of others.
bool Epochless::in_pieces(const Access& access, const Pending* pending) const {
  constexpr std::size_t kShortGetBytesMax = 8192;
  if (options_.piece_bytes == 0 || access.local_type != access.element || access.type != access.element) return false;
  int element_bytes = 1;
  MPI_Type_size(access.element, &element_bytes);
  const std::size_t bytes = static_cast<std::size_t>(access.count) * static_cast<std::size_t>(element_bytes);
  if (pending != nullptr) return bytes > options_.piece_bytes;
  return access.kind != Kind::kGet || bytes > kShortGetBytesMax;
}

// Whether a request stands for the operation. A flush would complete a blocking get too, but with all stores before it.
bool Epochless::by_request(const Access& access, const Pending* pending) const {
  if (access.window->dynamic() && !options_.dynamic_requests) return false;
  if (pending == nullptr) {
    return access.kind == Kind::kGet && options_.gets_need_flush && options_.requests &&
           access.local_type == access.element && access.type == access.element;
  }
  const bool derived = access.local_type != access.element || access.type != access.element;
  return derived ? options_.derived_requests : options_.requests;
}

// Bounded, as requests of MPI are (requests-limited).
Status Epochless::issue_pieces(const Access& access) {
  constexpr int kOutstandingMax = 1024;
  int bytes = 1;
  ARMCI_MPI(MPI_Type_size(access.element, &bytes));
  const int together = std::max(1, static_cast<int>(options_.piece_bytes) / bytes);
  MPI_Op how = access.kind == Kind::kPut ? MPI_REPLACE : MPI_SUM;
  MPI_Win window = access.window->handle();
  int outstanding = 0;
  for (int done = 0; done < access.count; done += together) {
    const int now = std::min(together, access.count - done);
    char* const local = static_cast<char*>(access.local) + static_cast<std::ptrdiff_t>(done) * bytes;
    const MPI_Aint place = access.displacement + static_cast<MPI_Aint>(done) * bytes;
    if (access.kind == Kind::kGet) {
      ARMCI_MPI(MPI_Get_accumulate(nullptr, 0, access.element, local, now, access.element, access.rank, place, now,
                                   access.element, MPI_NO_OP, window));
    } else {
      ARMCI_MPI(MPI_Accumulate(local, now, access.element, access.rank, place, now, access.element, how, window));
    }
    if (++outstanding % kOutstandingMax == 0) ARMCI_RETURN_IF_ERROR(flush(access.window, access.rank));
  }
  return kSuccess;
}

Status Epochless::open(Window* window) {
  ARMCI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window->handle()));
  return kSuccess;
}

Status Epochless::close(Window* window) {
  ARMCI_MPI(MPI_Win_unlock_all(window->handle()));
  return kSuccess;
}

// Operations that were completed one by one are counted too: a flush more, every now and then.
Status Epochless::bound_operations(Window* window, std::size_t started) {
  if (options_.operations_max == 0) return kSuccess;
  const int number = static_cast<int>(started);
  if (window->started().fetch_add(number) + number < options_.operations_max) return kSuccess;
  window->started().store(0);
  return flush_all(window);
}

Status Epochless::start(const Access& access, Pending* pending) {
  if (pending != nullptr) ARMCI_RETURN_IF_ERROR(bound_operations(access.window, 1));
  if (in_pieces(access, pending)) {
    ARMCI_RETURN_IF_ERROR(issue_pieces(access));
  } else if (by_request(access, pending)) {
    MPI_Request request = MPI_REQUEST_NULL;
    ARMCI_MPI(issue_with_request(access, &request));
    if (pending != nullptr) return *pending = Pending(request), kSuccess;
    ARMCI_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return kSuccess;
  } else {
    ARMCI_MPI(issue_operation(access));
  }
  if (pending == nullptr) return complete_locally(access.window, access.rank, access.kind);
  *pending = Pending(this, access.window, access.rank, access.kind);
  return kSuccess;
}

Status Epochless::issue(std::span<const Access> accesses) {
  if (accesses.empty()) return kSuccess;
  ARMCI_RETURN_IF_ERROR(bound_operations(accesses.front().window, accesses.size()));
  for (const Access& access : accesses) ARMCI_MPI(issue_operation(access));
  return kSuccess;
}

Status Epochless::complete_locally(Window* window, int rank, Kind kind) {
  if (kind == Kind::kGet && options_.gets_need_flush) return flush(window, rank);
  ARMCI_MPI(MPI_Win_flush_local(rank, window->handle()));
  return kSuccess;
}

Status Epochless::atomic(const Atomic& a, void* before, Pending* pending) {
  if (pending == nullptr) {
    AtomicWords words{a.rmw.operand, a.rmw.compare, 0};
    ARMCI_MPI(issue_atomic(a, &words));
    ARMCI_MPI(MPI_Win_flush(a.rank, a.window->handle()));
    std::memcpy(before, &words.before, a.rmw.bytes);
    return kSuccess;
  }
  ARMCI_RETURN_IF_ERROR(bound_operations(a.window, 1));
  auto words = std::make_shared<AtomicWords>(AtomicWords{a.rmw.operand, a.rmw.compare, 0});
  ARMCI_MPI(issue_atomic(a, words.get()));
  *pending = Pending(this, a.window, a.rank, Kind::kGet);
  const AtomicWords* const at = words.get();
  const std::size_t bytes = a.rmw.bytes;
  pending->hold({words, reinterpret_cast<char*>(words.get())},
                [before, at, bytes] { std::memcpy(before, &at->before, bytes); });
  return kSuccess;
}

Status Epochless::flush(Window* window, int rank) {
  ARMCI_MPI(MPI_Win_flush(rank, window->handle()));
  return kSuccess;
}

Status Epochless::flush_all(Window* window) {
  ARMCI_MPI(MPI_Win_flush_all(window->handle()));
  return kSuccess;
}

}  // namespace armci::rma
