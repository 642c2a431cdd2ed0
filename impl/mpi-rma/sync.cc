#include "impl/mpi-rma/sync.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "impl/mpi-rma/sync_epochless.h"
#include "impl/mpi-rma/sync_exclusive.h"

namespace armci::rma {

namespace {

// Of requests-limited: the safe method in preflight/faults.cc.
constexpr int kOperationsMax = 10000;

// Of put-slow. Pieces of 64 KiB were the fastest. With MPICH over TCP 1 MiB was 3 times as fast as one MPI_Put, and 2
// to 4 times as one contiguous MPI_Accumulate.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

}  // namespace

int issue_operation(const Access& a) {
  MPI_Win window = a.window->handle();
  switch (a.kind) {
    case Kind::kPut:
      return MPI_Put(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, window);
    case Kind::kGet:
      return MPI_Get(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, window);
    case Kind::kAccumulate:
      break;
  }
  return MPI_Accumulate(a.local, a.local_count, a.local_type, a.rank, a.displacement, a.count, a.type, MPI_SUM, window);
}

Pending::~Pending() {
  const bool holds = memory_ != nullptr && window_ != nullptr;
  if (request_ == MPI_REQUEST_NULL && !holds) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  // The buffer returns to its pool only once MPI has completed the request; after a failure, never.
  if (holds && !sync_->complete_locally(window_, rank_, kind_).ok()) new std::shared_ptr<char>(std::move(memory_));
}

Status Pending::test(bool* done) {
  ARMCI_RETURN_IF_ERROR(poll(done));
  if (!*done) return kSuccess;
  if (afterwards_) std::exchange(afterwards_, nullptr)();
  memory_.reset();
  return kSuccess;
}

Status Pending::poll(bool* done) {
  if (request_ != MPI_REQUEST_NULL) {
    int flag = 0;
    ARMCI_MPI(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE));
    *done = flag != 0;
    return kSuccess;
  }
  if (window_ != nullptr) {
    ARMCI_RETURN_IF_ERROR(sync_->complete_locally(window_, rank_, kind_));
    window_ = nullptr;
  }
  *done = true;
  return kSuccess;
}

Status Sync::make(SyncKind kind, int requests, const Findings& findings, MPI_Comm world, std::unique_ptr<Sync>* out) {
  if (kind == SyncKind::kExclusive) {
    auto exclusive = std::make_unique<Exclusive>();
    ARMCI_RETURN_IF_ERROR(exclusive->initialise(world));
    *out = std::move(exclusive);
    return kSuccess;
  }
  const auto absent = [&](std::initializer_list<Fault> faults) {
    return std::none_of(faults.begin(), faults.end(), [&](Fault fault) { return findings.has(fault); });
  };
  const bool right =
      absent({Fault::kRequestLost, Fault::kRputOutstanding, Fault::kRputContiguous, Fault::kRgetContiguous});
  const bool chosen = requests < 0 ? right : requests != 0;
  const bool derived = absent({Fault::kRputNoncontiguous, Fault::kRgetNoncontiguous, Fault::kRputPackedCrash});
  const bool accumulated = findings.has(Fault::kPutSlow) && !findings.has(Fault::kAccumulateFlush);
  *out = std::make_unique<Epochless>(
      Epochless::Options{.requests = chosen,
                         .derived_requests = chosen && derived,
                         .dynamic_requests = !findings.has(Fault::kRequestDynamic),
                         .gets_need_flush = findings.has(Fault::kGetFlushLocal),
                         .operations_max = findings.has(Fault::kRequestsLimited) ? kOperationsMax : 0,
                         .piece_bytes = accumulated ? kPieceBytes : 0});
  return kSuccess;
}

}  // namespace armci::rma
