// Transfers with datatypes: every shape on either side, for each operation, in three sizes.
//
// Each case has a region of its own in the memory of every process, so that all cases are pending together:
//
//   set up all regions | meet | start all, complete all | meet | compare all, gaps as well
//
// Once a request is complete, the probe compares the data of an MPI_Rget, or overwrites the buffer of an MPI_Rput.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "impl/mpi-rma/preflight/layouts.h"
#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

enum class Operation { kPut, kGet, kAccumulate, kRput, kRget };

// One number finds types that MPI takes for contiguous but which do not begin at their base; the longest takes more
// than one message, where completion has more to get wrong (accumulates of single numbers are slow).
constexpr std::size_t kCounts[] = {1, 24, 360};
constexpr std::size_t kRequestCounts[] = {1, 24, 1500};
constexpr double kUntouched = -1;
constexpr double kOverwritten = -2;

struct Case {
  Operation operation;
  Shape origin;
  Shape target;
  std::size_t count;
  std::size_t first;  // of the region, in numbers
};

bool brings_data_here(Operation operation) { return operation == Operation::kGet || operation == Operation::kRget; }

Fault fault_of(const Case& one) {
  const bool indexed = one.origin == Shape::kIndexed || one.target == Shape::kIndexed;
  const bool displaced = one.origin == Shape::kDisplaced || one.target == Shape::kDisplaced;
  const bool contiguous = one.origin == Shape::kContiguous && one.target == Shape::kContiguous;
  switch (one.operation) {
    case Operation::kPut:
      return indexed ? Fault::kPutIndexed : Fault::kPutStrided;
    case Operation::kGet:
      return indexed ? Fault::kGetIndexed : Fault::kGetStrided;
    case Operation::kAccumulate:
      if (displaced) return Fault::kAccumulateDisplaced;
      return indexed ? Fault::kAccumulateIndexed : Fault::kAccumulateStrided;
    case Operation::kRput:
      return contiguous ? Fault::kRputContiguous : Fault::kRputNoncontiguous;
    case Operation::kRget:
      return contiguous ? Fault::kRgetContiguous : Fault::kRgetNoncontiguous;
  }
  return Fault::kCount;
}

std::vector<Case> all_cases(bool requests) {
  std::vector<Case> cases;
  std::size_t first = 0;
  constexpr Shape kShapes[] = {Shape::kContiguous, Shape::kVector, Shape::kSubarray, Shape::kIndexed};
  const auto add = [&](Operation operation, Shape origin, Shape target, std::size_t count) {
    cases.push_back({operation, origin, target, count, first});
    first += ProbeLayout::room(count);
  };
  for (const Operation operation :
       {Operation::kPut, Operation::kGet, Operation::kAccumulate, Operation::kRput, Operation::kRget}) {
    const bool request = operation == Operation::kRput || operation == Operation::kRget;
    if (request && !requests) continue;
    for (const Shape origin : kShapes) {
      for (const Shape target : kShapes) {
        // Contiguous transfers are the subject of the windows' probes.
        if (!request && origin == Shape::kContiguous && target == Shape::kContiguous) continue;
        for (const std::size_t count : request ? kRequestCounts : kCounts) add(operation, origin, target, count);
      }
    }
  }
  for (const std::size_t count : kCounts) {
    add(Operation::kAccumulate, Shape::kDisplaced, Shape::kContiguous, count);
    add(Operation::kAccumulate, Shape::kContiguous, Shape::kDisplaced, count);
  }
  return cases;
}

// The number of process `rank` at an index of a case; small whole numbers, so that sums are exact.
double value(int rank, std::size_t index) {
  return static_cast<double>(1000 * (rank + 1)) + static_cast<double>(index % 997);
}

// One case of one process. The buffer is everything the origin has; it lies as in the window.
class Transfer {
 public:
  Transfer(const Case& one, const ProbeWindow& window, int rank, const Partners& partners)
      : case_(one),
        window_(window),
        rank_(rank),
        partners_(partners),
        origin_(one.origin, one.count),
        target_(one.target, one.count),
        buffer_(ProbeLayout::room(one.count)) {
    double* const region = window_.at<double>(case_.first * sizeof(double));
    for (std::size_t index = 0; index < buffer_.size(); ++index) {
      buffer_[index] = brings_data_here(case_.operation) ? kUntouched : value(rank_, index);
      region[index] =
          case_.operation == Operation::kPut || case_.operation == Operation::kRput ? kUntouched : value(rank_, index);
    }
  }

  // Starts it, and completes it where it has a request. False: wrong already.
  bool start() {
    const int target = partners_.target;
    const MPI_Aint displacement = window_.displacement(target, case_.first * sizeof(double));
    double* const data = buffer_.data();
    switch (case_.operation) {
      case Operation::kPut:
        return went_well(MPI_Put(data, 1, origin_.type(), target, displacement, 1, target_.type(), window_.win()));
      case Operation::kGet:
        return went_well(MPI_Get(data, 1, origin_.type(), target, displacement, 1, target_.type(), window_.win()));
      case Operation::kAccumulate:
        return went_well(
            MPI_Accumulate(data, 1, origin_.type(), target, displacement, 1, target_.type(), MPI_SUM, window_.win()));
      case Operation::kRput: {
        MPI_Request request = MPI_REQUEST_NULL;
        const bool well = went_well(MPI_Rput(data, 1, origin_.type(), target, displacement, 1, target_.type(),
                                             window_.win(), &request)) &&
                          went_well(MPI_Wait(&request, MPI_STATUS_IGNORE));
        std::fill(buffer_.begin(), buffer_.end(), kOverwritten);
        return well;
      }
      case Operation::kRget: {
        MPI_Request request = MPI_REQUEST_NULL;
        return went_well(MPI_Rget(data, 1, origin_.type(), target, displacement, 1, target_.type(), window_.win(),
                                  &request)) &&
               went_well(MPI_Wait(&request, MPI_STATUS_IGNORE)) && arrived_here();
      }
    }
    return false;
  }

  // After completion on all processes: whether this process's buffer, or the memory that its source wrote, is right.
  bool right() const { return brings_data_here(case_.operation) ? arrived_here() : arrived_from_source(); }

 private:
  bool arrived_here() const {
    std::vector<double> expected(buffer_.size(), kUntouched);
    for (std::size_t i = 0; i < case_.count; ++i) {
      expected[origin_.indices()[i]] = value(partners_.target, target_.indices()[i]);
    }
    return expected == buffer_;
  }

  bool arrived_from_source() const {
    const bool adds = case_.operation == Operation::kAccumulate;
    std::vector<double> expected(buffer_.size(), kUntouched);
    for (std::size_t index = 0; adds && index < expected.size(); ++index) expected[index] = value(rank_, index);
    for (std::size_t i = 0; i < case_.count; ++i) {
      const std::size_t index = target_.indices()[i];
      expected[index] = value(partners_.source, origin_.indices()[i]) + (adds ? expected[index] : 0);
    }
    return std::equal(expected.begin(), expected.end(), window_.at<double>(case_.first * sizeof(double)));
  }

  const Case& case_;
  const ProbeWindow& window_;
  int rank_;
  Partners partners_;
  ProbeLayout origin_;
  ProbeLayout target_;
  std::vector<double> buffer_;
};

void probe_round(const std::vector<Case>& cases, const ProbeWindow& window, int rank, const Partners& partners,
                 Findings* found) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (const Case& one : cases) transfers.push_back(std::make_unique<Transfer>(one, window, rank, partners));
  window.meet();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!transfers[i]->start()) found->add(fault_of(cases[i]));
  }
  const bool complete = went_well(MPI_Win_flush(partners.target, window.win()));
  window.meet();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!complete || !transfers[i]->right()) found->add(fault_of(cases[i]));
  }
  window.meet();
}

}  // namespace

void probe_datatypes(const Neighbourhood& around, Findings* found) {
  for (const WindowKind kind : {WindowKind::kCreateShared, WindowKind::kDynamic}) {
    const std::vector<Case> cases = all_cases(kind != WindowKind::kDynamic || !found->has(Fault::kRequestDynamic));
    const std::size_t words = cases.back().first + ProbeLayout::room(cases.back().count);
    const ProbeWindow window(around, kind, words * sizeof(double));
    // Without such a window it has been found broken already.
    if (!window.ok()) continue;
    for (const Partners& partners : around.rounds()) probe_round(cases, window, around.rank(), partners, found);
  }
}

}  // namespace armci::rma
